"""Training text JEPAs: text encoders that learn from several texts of one image."""
