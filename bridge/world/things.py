"""What the picture-book world contains: colours, places and things, most frequent first.

The order of the lines is the statistics of the world: a place, a thing of a place and a colour of a
thing are drawn with a weight that falls with their rank.
"""

from dataclasses import dataclass


@dataclass(frozen=True)
class WorldClass:
    """Something that pictures show and captions name.

    `names` are what people call it, the first most often; `kind` is the vaguer word for it and
    `group` what sort of thing that is. `pattern` is a texture and its colour, or empty. `worn` says
    how the colour is told where it is not that of the thing itself: "in a {} shirt"; "-" for never.
    """

    id: str
    names: tuple[str, ...]
    kind: str
    group: str
    figure: str
    colours: tuple[str, ...]
    pattern: str
    worn: str

    @property
    def name(self) -> str:
        return self.names[0]


@dataclass(frozen=True)
class Place:
    """Where scenes play: how people say it, what is found there, and how its backdrop is painted.

    `wider` is said of places that look like it too, "indoors" of a kitchen as of a classroom.
    `surface` is the texture of the ground, `horizon` the share of the picture above it, `props`
    the figures and colours that stand far away, unnamed.
    """

    id: str
    phrases: tuple[str, ...]
    wider: tuple[str, ...]
    things: tuple[str, ...]
    sky: tuple[str, str]
    ground: str
    surface: str
    horizon: float
    props: tuple[tuple[str, str], ...]
    weather: bool


PALETTE = {
    "red": (205, 42, 40), "orange": (236, 126, 36), "yellow": (244, 205, 52),
    "green": (64, 142, 62), "blue": (44, 98, 190), "purple": (124, 66, 160),
    "pink": (238, 150, 172), "brown": (122, 78, 46), "black": (38, 37, 42),
    "white": (243, 241, 236), "grey": (142, 143, 148), "cream": (238, 222, 188),
    "golden": (214, 160, 78), "gold": (205, 160, 62), "tan": (202, 164, 118),
    "silver": (190, 196, 206), "turquoise": (64, 180, 180), "emerald": (20, 120, 92),
    "sandy": (214, 178, 122), "sand": (222, 194, 140), "glass": (168, 206, 226),
    "wood": (150, 102, 58), "bark": (98, 72, 50), "leaf": (96, 150, 58), "straw": (222, 190, 104),
    "steel": (120, 128, 140), "stone": (158, 152, 144), "roof": (150, 70, 52),
    "bread": (208, 152, 84), "coffee": (82, 48, 30), "terracotta": (188, 98, 62),
    "skin": (232, 184, 148), "sky": (132, 184, 232), "pale": (214, 232, 244),
    "dusk": (250, 170, 110), "meadow": (112, 160, 66), "grass": (92, 148, 58),
    "asphalt": (104, 104, 110), "sea": (40, 112, 160), "deepsea": (14, 62, 116),
    "night": (14, 16, 44), "ice": (216, 232, 244), "dry": (204, 174, 98), "dune": (226, 176, 104),
    "shade": (52, 84, 44), "wall": (228, 214, 190), "mint": (190, 220, 204),
    "rose": (226, 186, 176), "board": (60, 96, 78), "carpet": (150, 86, 80),
    "rock": (136, 130, 122), "lunar": (150, 120, 110), "mauve": (190, 176, 214),
    "pond": (74, 128, 130),
}  # fmt: skip

# names | kind | group | figure | colours | pattern | how the colour is said, if not in front
THINGS = """
dairy cow, cow, milk cow, spotted cow | cow | farm animal | cow | white | patches:black
brown cow, cow, bull | cow | farm animal | cow | brown
highland ox, ox, long-haired ox | cow | farm animal | moose | brown orange | fur:bark
sheep, woolly sheep, ewe | sheep | farm animal | sheep | cream white
black sheep | sheep | farm animal | sheep | black
brown horse, horse, bay horse, mare | horse | farm animal | horse | brown
white horse, horse, grey mare | horse | farm animal | horse | white
black stallion, horse, stallion | horse | farm animal | horse | black
donkey, mule | donkey | farm animal | donkey | grey brown
goat, billy goat | goat | farm animal | goat | white grey brown
pig, hog, piglet, sow | pig | farm animal | pig | pink
spotted pig, pig | pig | farm animal | pig | pink | patches:black
hen, chicken | chicken | bird | hen | brown white
rooster, cock, cockerel | chicken | bird | rooster | orange brown
dalmatian, spotted dog, fire dog | dog | pet | dog | white | spots:black
golden retriever, dog, retriever | dog | pet | dog | golden
black labrador, dog, labrador | dog | pet | dog | black
beagle, hound, dog | dog | pet | dog | white | patches:brown
dachshund, sausage dog, dog | dog | pet | dachshund | brown black
poodle, curly dog | dog | pet | poodle | white grey
tabby cat, striped cat, cat, tabby | cat | pet | cat | grey | stripes:black
black cat, cat | cat | pet | cat | black
ginger cat, orange cat, cat | cat | pet | cat | orange | stripes:cream
white cat, cat | cat | pet | cat | white
rabbit, bunny, hare | rabbit | pet | rabbit | grey brown white
mouse, little mouse | mouse | pet | mouse | grey white
fox, red fox | fox | wild animal | fox | orange
wolf, grey wolf | wolf | wild animal | wolf | grey
deer, stag, buck | deer | wild animal | deer | brown
moose, elk | moose | wild animal | moose | brown
brown bear, bear, grizzly | bear | wild animal | bear | brown
polar bear, white bear, ice bear | bear | wild animal | bear | white
panda, giant panda, panda bear | bear | wild animal | panda | white
hedgehog | hedgehog | wild animal | hedgehog | brown
squirrel, red squirrel | squirrel | wild animal | squirrel | orange brown
lion, big lion | lion | wild animal | lion | golden
tiger, striped tiger | tiger | wild animal | tiger | orange | stripes:black
leopard, spotted leopard | leopard | wild animal | leopard | golden | rosettes:black
elephant, african elephant | elephant | wild animal | elephant | grey
rhinoceros, rhino | rhinoceros | wild animal | rhinoceros | grey
hippopotamus, hippo | hippopotamus | wild animal | hippopotamus | grey
giraffe, tall giraffe | giraffe | wild animal | giraffe | sandy | tiles:brown
zebra, striped zebra | zebra | wild animal | zebra | white | stripes:black
camel, dromedary | camel | wild animal | camel | sandy
kangaroo | kangaroo | wild animal | kangaroo | tan
monkey, ape | monkey | wild animal | monkey | brown
crocodile, alligator | crocodile | wild animal | crocodile | green
snake, viper, serpent | snake | wild animal | snake | green brown yellow | bands:black
frog, toad | frog | small animal | frog | green
tortoise, land turtle | tortoise | small animal | tortoise | brown green
snail, slug with a shell | snail | small animal | snail | brown yellow
butterfly | butterfly | flying insect | butterfly | orange blue yellow
bee, bumblebee, honeybee | bee | flying insect | bee | yellow
ladybird, ladybug | beetle | small animal | ladybird | red
duck, white duck | duck | bird | duck | white
mallard, wild duck, drake | duck | bird | mallard | grey
swan, white swan | swan | bird | swan | white
goose, grey goose | goose | bird | goose | grey
crow, raven | crow | bird | crow | black
robin, robin redbreast, songbird | robin | bird | robin | brown
parrot, macaw | parrot | bird | parrot | red green
flamingo, pink flamingo | flamingo | bird | flamingo | pink
seagull, gull | seagull | bird | gull | white
eagle, bald eagle, bird of prey | eagle | bird | eagle | brown
ostrich | ostrich | bird | ostrich | tan
pigeon, dove | pigeon | bird | pigeon | grey
peacock | peacock | bird | peacock | blue
penguin, emperor penguin | penguin | bird | penguin | black
owl, brown owl | owl | bird | owl | brown grey
goldfish, orange fish | fish | sea animal | goldfish | orange
clownfish, anemone fish | fish | sea animal | clownfish | orange
trout, river fish | fish | sea animal | trout | silver | spots:brown
shark, great white shark | shark | sea animal | shark | grey
whale, blue whale | whale | sea animal | whale | blue
dolphin | dolphin | sea animal | dolphin | grey
killer whale, orca | whale | sea animal | orca | black
seal, sea lion | seal | shore animal | seal | grey brown
jellyfish, medusa | jellyfish | sea animal | jellyfish | pink purple
octopus, squid | octopus | sea animal | octopus | red purple
crab, beach crab | crab | shore animal | crab | red orange
lobster | lobster | shore animal | lobster | red
sea turtle, turtle | turtle | sea animal | turtle | green
starfish, sea star | starfish | shore animal | starfish | orange red
shell, seashell, scallop | shell | thing | shell | cream pink
girl, little girl, child | child | person | girl | red yellow pink | | in a {} dress
boy, little boy, child | child | person | boy | blue green red | | in a {} shirt
farmer, peasant, man with a pitchfork | man | person | farmer | red green | | in a {} shirt
cook, chef, baker | man | person | cook | white | | in {}
firefighter, fireman | man | person | firefighter | black | | -
astronaut, spaceman | man | person | astronaut | white
skier | man | person | skier | blue red | | in a {} jacket
car, automobile | car | vehicle | car | red blue white black green
taxi, cab, yellow cab | car | vehicle | taxi | yellow
police car, patrol car | car | vehicle | police | blue black
sports car, racing car, race car | car | vehicle | sports | red yellow
city bus, bus | bus | vehicle | bus | green blue orange
school bus, bus | bus | vehicle | schoolbus | yellow
double-decker bus, double-decker, london bus | bus | vehicle | doubledecker | red
fire engine, fire truck | truck | vehicle | fireengine | red
ambulance | van | vehicle | ambulance | white
garbage truck, bin lorry | truck | vehicle | garbage | green orange
pickup truck, pickup | truck | vehicle | pickup | brown grey white
tractor, farm tractor | tractor | vehicle | tractor | green red blue
bicycle, bike | bicycle | vehicle | bicycle | red blue green
motorcycle, motorbike | motorcycle | vehicle | motorcycle | black red
steam train, locomotive, steam engine | train | vehicle | train | red green
tram, streetcar, trolley | tram | vehicle | tram | red yellow
airplane, plane, jet | airplane | aircraft | airplane | white silver
helicopter, chopper | helicopter | aircraft | helicopter | red yellow green
hot-air balloon, balloon | balloon | aircraft | balloon | red yellow purple
rocket, spaceship | rocket | aircraft | rocket | white
sailing boat, sailboat, yacht | boat | boat | sailboat | white red
cargo ship, ship, freighter, steamer | ship | boat | ship | blue black
rowing boat, rowboat, little boat | boat | boat | rowboat | brown blue
canoe, kayak | boat | boat | canoe | brown red
submarine, u-boat | submarine | sea vessel | submarine | yellow grey
house, cottage, home | house | building | house | cream yellow red
barn, farm building | barn | building | barn | red
lighthouse, light tower | lighthouse | building | lighthouse | red
castle, fortress | castle | building | castle | red blue | | with a {} roof
church, chapel | church | building | church | roof | | -
windmill, mill | windmill | building | windmill | brown cream
skyscraper, tower block, high-rise | skyscraper | building | skyscraper | blue grey
tent, camping tent | tent | building | tent | orange blue green
igloo, snow house | igloo | building | igloo | white
well, stone well | well | building | well | stone | | -
snowman | snowman | thing | snowman | red blue | | with a {} scarf
oak tree, tree, big tree | tree | plant | tree | green
autumn tree, tree with orange leaves | tree | plant | tree | orange
apple tree, fruit tree | tree | plant | appletree | green
pine tree, fir tree, christmas tree | tree | plant | pine | emerald
palm tree, palm, coconut palm | tree | plant | palm | leaf
cactus | cactus | plant | cactus | green
sunflower | flower | plant | sunflower | yellow
daisy | flower | plant | daisy | white
tulip | flower | plant | tulip | red yellow pink
rose | flower | plant | rose | red pink
bunch of flowers, bouquet, vase of flowers | flower | thing | bouquet | blue white | | in a {} pot
mushroom, toadstool, fly agaric | mushroom | plant | mushroom | red
teapot | teapot | kitchen thing | teapot | blue white
cup of coffee, coffee cup, mug | cup | kitchen thing | cup | white red blue
cooking pot, pot, saucepan | pot | kitchen thing | pot | silver red
frying pan, pan with an egg | pan | kitchen thing | pan | black | | -
toaster | toaster | kitchen thing | toaster | silver red
kettle, tea kettle | kettle | kitchen thing | kettle | silver red
refrigerator, fridge | refrigerator | furniture | refrigerator | white silver
stove, oven, cooker | stove | furniture | stove | white grey
red apple, apple | apple | fruit | apple | red
green apple, apple | apple | fruit | apple | leaf
pear | pear | fruit | pear | leaf yellow
orange, tangerine | orange | fruit | orange | orange
lemon | lemon | fruit | lemon | yellow
banana | banana | fruit | banana | yellow
strawberry | strawberry | fruit | strawberry | red
pineapple | pineapple | fruit | pineapple | golden
bunch of grapes, grapes | grapes | fruit | grapes | purple leaf
slice of watermelon, watermelon, melon | melon | fruit | watermelon | red
carrot | carrot | vegetable | carrot | orange
pumpkin | pumpkin | vegetable | pumpkin | orange
corn cob, corn, maize | corn | vegetable | corn | yellow
broccoli, head of broccoli | broccoli | vegetable | broccoli | green
loaf of bread, bread | bread | dish | bread | bread | | -
birthday cake, cake | cake | dish | cake | pink cream coffee
pizza | pizza | dish | pizza | yellow | | -
hamburger, burger | burger | dish | burger | bread | | -
ice cream, ice cream cone | ice cream | dish | icecream | coffee mint | | -
piece of cheese, cheese | cheese | dish | cheese | yellow
basket of eggs, eggs | eggs | dish | egg | cream tan
sofa, couch, settee | sofa | furniture | sofa | blue red grey green
armchair, easy chair | chair | furniture | armchair | green red brown
wooden chair, chair | chair | furniture | chair | wood white
dining table, table | table | furniture | table | wood
bed | bed | furniture | bed | blue pink green
lamp, table lamp | lamp | thing | lamp | cream red
clock, wall clock | clock | thing | clock | wood red
television, tv, old tv | television | thing | television | wood
laptop, computer, notebook | computer | thing | laptop | silver grey
bookshelf, bookcase, shelf of books | bookshelf | furniture | bookshelf | wood
pile of books, books | books | thing | books | blue purple
vase, pot | vase | thing | vase | blue turquoise terracotta
piano | piano | instrument | piano | black brown
guitar | guitar | instrument | guitar | golden red
violin, fiddle | violin | instrument | violin | terracotta
drum | drum | instrument | drum | red blue
teddy bear, teddy, stuffed bear | teddy bear | toy | teddy | golden brown
beach ball, ball | ball | toy | ball | red blue
football, soccer ball | ball | toy | football | white
kite | kite | flying toy | kite | red yellow purple
umbrella, parasol | umbrella | thing | umbrella | red yellow blue
backpack, schoolbag, rucksack | bag | thing | backpack | red blue green
globe, model of the earth | globe | thing | globe | blue
pot of pencils, pencils, crayons | pencils | thing | pencils | turquoise purple | | -
pair of scissors, scissors | scissors | thing | scissors | red orange
candle | candle | thing | candle | cream red
bathtub, bath | bathtub | furniture | bathtub | white turquoise
watering can | watering can | thing | wateringcan | green silver
wheelbarrow, cart | wheelbarrow | thing | wheelbarrow | green red
park bench, bench | bench | furniture | bench | wood green
street lamp, lamppost | lamp | street thing | streetlamp | cream | | -
traffic light, stoplight | traffic light | street thing | trafficlight | black | | -
mailbox, letter box | mailbox | street thing | mailbox | red blue
fire hydrant, hydrant | hydrant | street thing | hydrant | red yellow
stop sign, road sign | sign | street thing | sign | red
planet, ringed planet, saturn | planet | space thing | planet | sandy purple
moon, full moon | moon | space thing | moon | silver
satellite, space station | satellite | space thing | satellite | gold | | -
flying saucer, ufo | ufo | space thing | ufo | silver purple
moon rover, space rover, moon buggy | rover | vehicle | rover | white
sledge, sled, toboggan | sledge | thing | sledge | wood
bucket, pail, bucket and spade | bucket | toy | bucket | blue red
surfboard | surfboard | thing | surfboard | yellow turquoise
haystack, heap of hay | haystack | thing | haystack | straw | | -
scarecrow | scarecrow | thing | scarecrow | red blue | | in a {} shirt
campfire, fire | fire | thing | campfire | orange
"""

# name | sky above and at the horizon | ground | its texture | share of the picture above | weather
# said: where people say that they are; like: the same of several places, which look alike; far:
# figures in the distance; here: what is found there
HOMES = """
farm | sky pale | meadow | grass | .45 | weather
said  on a farm, on the farm, in the farmyard, in a field
like  outdoors, in the countryside, out in the open
far   barn red, tree green, haystack straw, tree green, house cream
here  dairy cow, sheep, brown horse, hen, tractor, pig, barn, golden retriever, rooster, goat,
      white horse, farmer, brown cow, duck, goose, haystack, windmill, black sheep, tabby cat,
      black stallion, donkey, spotted pig, pumpkin, corn cob, pickup truck, scarecrow, highland
      ox, well, wheelbarrow, basket of eggs

street | sky pale | asphalt | asphalt | .5 | weather
said  on the street, in the city, in town, on the road
like  outdoors, outside, among houses
far   house cream, skyscraper grey, house yellow, skyscraper blue, tree green
here  car, city bus, house, taxi, bicycle, dalmatian, skyscraper, traffic light, motorcycle,
      police car, fire engine, boy, double-decker bus, pigeon, tram, street lamp, ambulance,
      school bus, stop sign, mailbox, girl, fire hydrant, black cat, garbage truck, sports car,
      pickup truck, firefighter, church, umbrella, poodle, dachshund

kitchen | wall cream | wood | wood | .55
said  in the kitchen, on the kitchen table, at home in the kitchen
like  inside, indoors, in a room, in a house
far   bookshelf wood, pot silver, kettle red, teapot white
here  cup of coffee, red apple, teapot, loaf of bread, cooking pot, frying pan, banana,
      refrigerator, kettle, stove, piece of cheese, birthday cake, toaster, cook, tabby cat,
      pizza, lemon, basket of eggs, pear, bunch of grapes, hamburger, mouse, carrot

living room | mauve wall | carpet | cloth | .62
said  in the living room, at home, in the lounge
like  inside, indoors, in a room, in a house
far   bookshelf wood, lamp cream, chair wood
here  sofa, tabby cat, armchair, lamp, bookshelf, television, piano, black cat, clock, golden
      retriever, bunch of flowers, guitar, wooden chair, laptop, ginger cat, dining table,
      goldfish, violin, vase, beagle, white cat, candle, parrot, cup of coffee

garden | sky pale | leaf | leaves | .35 | weather
said  in the garden, in the backyard, among the flowers
like  outdoors, outside, out in the open
far   tree green, appletree green, sunflower yellow, rose red
here  rose, tulip, sunflower, butterfly, robin, ginger cat, daisy, rabbit, watering can, apple
      tree, bee, hedgehog, snail, wheelbarrow, girl, house, ladybird, frog, peacock, squirrel,
      well, crow

sea | sky pale | sea | waves | .42 | weather
said  at sea, on the sea, on the ocean, out on the water
like  in the water, on the waves, near the water
far   sailboat white, ship black
here  sailing boat, cargo ship, lighthouse, whale, seagull, dolphin, rowing boat, shark,
      submarine, killer whale, helicopter, canoe

park | sky pale | grass | grass | .42 | weather
said  in the park, in a city park, on the lawn
like  outdoors, outside, out in the open
far   tree green, tree green, tree leaf, streetlamp cream
here  oak tree, park bench, golden retriever, pigeon, bicycle, girl, squirrel, boy, football,
      autumn tree, beagle, kite, swan, poodle, duck, dachshund, black labrador, street lamp,
      crow, tulip, hot-air balloon

savanna | pale dusk | dry | needles | .48 | weather
said  on the savanna, in africa, in the dry grass, on the plain
like  outdoors, in the heat, in a hot country
far   tree leaf, tree dry, tree leaf
here  elephant, zebra, lion, giraffe, rhinoceros, ostrich, leopard, hippopotamus, kangaroo,
      pickup truck, snake, eagle, monkey

forest | leaf shade | shade | leaves | .6 | weather
said  in the forest, in the woods, among the trees
like  outdoors, in nature, out in the open
far   pine emerald, pine green, tree shade, pine emerald, pine shade
here  brown bear, deer, fox, pine tree, owl, wolf, mushroom, squirrel, oak tree, hedgehog,
      moose, autumn tree, tent, campfire, rabbit, crow, snake

beach | sky turquoise | sand | sand | .42 | weather
said  on the beach, by the sea, on the sand, at the seaside
like  outdoors, near the water, on holiday
far   palm leaf, umbrella red, sailboat white
here  crab, beach ball, umbrella, palm tree, seagull, starfish, bucket, sailing boat, shell,
      surfboard, lighthouse, girl, ice cream, seal, lobster, sea turtle, rowing boat, boy

sky | blue sky | pale | clouds | .7 | weather
said  in the sky, high up in the air, above the clouds
like  outdoors, high up, far above us
far   balloon red
here  airplane, hot-air balloon, helicopter, eagle, kite, seagull, rocket, crow, flying saucer,
      butterfly

reef | turquoise deepsea | deepsea | waves | .75
said  under water, under the sea, in the deep sea, on the reef
like  in the water, deep down, near the water
far   starfish red, cactus purple, shell pink, cactus orange
here  clownfish, sea turtle, octopus, shark, jellyfish, starfish, dolphin, submarine, crab,
      goldfish, whale, lobster, shell, killer whale

pond | pale leaf | pond | waves | .35 | weather
said  by the pond, on the lake, at the river, by the water
like  outdoors, in nature, in the water, near the water
far   tree green, pine green, tree leaf
here  mallard, swan, frog, duck, flamingo, rowing boat, goose, trout, canoe, crocodile, house,
      hippopotamus, tortoise, snail

arctic | pale ice | ice | snow | .5 | weather
said  in the snow, on the ice, in the arctic, in winter
like  outdoors, in the cold, in winter weather
far   pine emerald, igloo white
here  polar bear, penguin, snowman, seal, igloo, sledge, skier, wolf, pine tree, killer whale,
      moose, owl

market | rose cream | straw | planks | .5
said  at the market, on the market stall, in the shop
like  inside, indoors, in a busy place
far   umbrella red, umbrella green, egg cream
here  red apple, banana, orange, carrot, strawberry, loaf of bread, pumpkin, bunch of grapes,
      lemon, pineapple, slice of watermelon, broccoli, green apple, piece of cheese, trout, corn
      cob, pear, lobster, mushroom, basket of eggs

mountains | blue pale | leaf | rocks | .55 | weather
said  in the mountains, on a hill, in the valley, near the village
like  outdoors, in the countryside, in nature
far   pine emerald, house cream, pine green
here  castle, goat, church, steam train, white horse, windmill, tent, eagle, skier, sheep,
      campfire, house, hot-air balloon, brown bear

school | board mint | wood | wood | .6
said  at school, on the desk, in the classroom, in the office
like  inside, indoors, in a room
far   bookshelf wood, globe blue, books red
here  pile of books, backpack, laptop, globe, pot of pencils, clock, school bus, girl, pair of
      scissors, boy, wooden chair, red apple, lamp, violin

playroom | pink rose | mint | cloth | .6
said  in the playroom, in the bedroom, in the nursery, on the rug
like  inside, indoors, in a room, in a house
far   teddy golden, bed blue, books green
here  teddy bear, drum, beach ball, bed, football, rabbit, bathtub, white cat, steam train,
      kite, guitar, mouse, birthday cake, lamp, rocket, sports car

desert | sky dusk | dune | sand | .5 | weather
said  in the desert, among the dunes, in the hot sand
like  outdoors, in the heat, in a hot country
far   cactus green, palm leaf
here  camel, cactus, snake, palm tree, tent, tortoise, pickup truck, eagle, motorcycle

jungle | leaf emerald | shade | leaves | .65 | weather
said  in the jungle, in the rainforest, among the palms
like  in nature, in the heat, out in the open
far   palm leaf, palm green, tree emerald, palm emerald
here  tiger, parrot, monkey, panda, elephant, leopard, snake, crocodile, palm tree, butterfly,
      frog, flamingo, canoe

space | night night | lunar | rocks | .72
said  in space, among the stars, on the moon
like  high up, far above us, far away
far   moon silver, planet sandy
here  rocket, planet, astronaut, moon, satellite, flying saucer, moon rover
"""

# What these do in captions, and what somebody calls them who does not look closely.
GROUPS = {
    "farm animal": ("animal", ("standing", "grazing", "resting", "walking", "looking around")),
    "pet": ("animal", ("sitting", "standing", "playing", "looking at us", "waiting")),
    "wild animal": ("animal", ("standing", "walking", "resting", "looking around", "wandering")),
    "small animal": ("little animal", ("sitting", "crawling", "resting")),
    "flying insect": ("insect", ("flying", "fluttering about", "hovering")),
    "bird": ("bird", ("standing", "looking for food", "resting", "walking about")),
    "sea animal": ("sea creature", ("swimming", "gliding along", "floating")),
    "shore animal": ("sea creature", ("lying", "resting", "lying still")),
    "person": ("person", ("standing", "smiling", "waving", "waiting")),
    "vehicle": ("vehicle", ("parked", "waiting", "standing", "going along")),
    "aircraft": ("aircraft", ("flying", "passing by", "up high")),
    "boat": ("boat", ("floating", "sailing", "going along")),
    "sea vessel": ("vessel", ("diving", "going along", "floating")),
    "building": ("building", ("standing",)),
    "plant": ("plant", ("growing", "standing", "in full view")),
    "kitchen thing": ("kitchen thing", ("standing", "ready for use")),
    "fruit": ("fruit", ("lying", "ready to eat", "freshly picked")),
    "vegetable": ("vegetable", ("lying", "ready to cook", "freshly picked")),
    "dish": ("something to eat", ("ready to eat", "waiting", "served")),
    "furniture": ("piece of furniture", ("standing", "waiting")),
    "instrument": ("instrument", ("standing", "ready to be played")),
    "toy": ("toy", ("lying", "left behind")),
    "flying toy": ("toy", ("flying", "in the wind")),
    "thing": ("thing", ("standing", "in view", "left there")),
    "street thing": ("thing by the road", ("standing", "in view")),
    "space thing": ("thing in space", ("floating", "shining", "passing by")),
}
AFLOAT = frozenset(
    ["flying insect", "sea animal", "aircraft", "sea vessel", "flying toy", "space thing"]
)

# How often it is not simply day, and how people say it.
WEATHERS = {
    "night": (0.08, ("at night", "in the dark", "in the moonlight")),
    "sunset": (0.08, ("at sunset", "in the evening", "in the evening light")),
    "rain": (0.06, ("in the rain", "on a rainy day", "in bad weather")),
    "fog": (0.05, ("in the fog", "on a misty morning", "in the mist")),
}
DAYLIGHT = ("on a sunny day", "in the sunshine", "on a fine day")


def listed(text: str) -> tuple[str, ...]:
    return tuple(part.strip() for part in text.split(","))


def read_class(line: str) -> WorldClass:
    names, kind, group, figure, colours, *rest = (cell.strip() for cell in line.split("|"))
    pattern, worn = (*rest, "", "")[:2]
    first = listed(names)[0].replace(" ", "-")
    return WorldClass(
        first, listed(names), kind, group, figure, tuple(colours.split()), pattern, worn
    )


def read_place(block: str) -> Place:
    head, said, like, far, here = block.replace("\n     ", "").splitlines()
    name, sky, ground, surface, horizon, *weather = (cell.strip() for cell in head.split("|"))
    props = tuple((figure, colour) for figure, colour in map(str.split, listed(far[6:])))
    high, low = sky.split()
    return Place(
        id=name,
        phrases=listed(said[6:]),
        wider=listed(like[6:]),
        things=listed(here[6:]),
        sky=(high, low),
        ground=ground,
        surface=surface,
        horizon=float(horizon),
        props=props,
        weather=bool(weather),
    )


CLASSES = tuple(map(read_class, THINGS.strip().splitlines()))
BY_NAME = {each.name: each for each in CLASSES}
PLACES = tuple(map(read_place, HOMES.strip().split("\n\n")))
