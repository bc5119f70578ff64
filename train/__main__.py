"""`python -m train CONFIG ...`, for `accelerate launch -m train CONFIG ...`."""

import sys

from bridge.__main__ import main

if __name__ == "__main__":
    sys.exit(main(["train", *sys.argv[1:]]))
