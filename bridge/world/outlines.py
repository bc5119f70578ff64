"""The outlines of all drawn things, in the language that `bridge.world.figures` reads.

`= name` opens a figure, `= name: template setting=value ...` one that a template draws and whose
further layers, each after the name of the part that they belong to, are its own. `@name` takes over
the layers of another figure. Indented lines continue the line above.
"""

OUTLINES = """
= cow: beast length=62 depth=32 leg=26 thick=7 neck=14 rise=6 head=13 muzzle=10 snout=0.7
    ear=side grazes=1
face pink: o 10 3.5 5 4.5
face cream: l 3 1 -4 -8 -5 -13 -1 -16
face black: o 12 3 1 1
back pink: o -12 31 6 4

= sheep: beast length=50 depth=34 leg=17 thick=5 neck=9 rise=2 head=10 muzzle=8 ear=side
    tail=short coat=wool grazes=1
face deep: s -5 -5 5 -6 11 2 9 6 -3 5
face light/wool: o -4 -6 6 5
face white: o 3 -2 1.6 1.6
face black: o 3.4 -2 1 1

= goat: beast length=44 depth=24 leg=24 thick=5 neck=11 rise=13 head=9 muzzle=8 ear=side
    tail=short grazes=1
face tan: l 3 1 -3 -6 -8 -14 -15 -15
face light/fur: s 6 5 10 5 7 15

= pig: beast length=56 depth=32 leg=15 thick=7 neck=11 rise=0 head=15 muzzle=11 snout=0.62
    ear=point tail=curl coat=skin
face pink: o 16 3.5 4 5
face black: o 16 2 0.8 1; o 16 5 0.8 1

= horse: beast length=56 depth=26 leg=36 thick=6 neck=17 rise=22 head=11 muzzle=14 ear=point
    tail=horse grazes=1 paw=black
face deep/fur: s -3 -9 -10 -8 -20 14 -26 26 -18 18 -6 4

= zebra: beast length=54 depth=26 leg=32 thick=6 neck=15 rise=20 head=11 muzzle=13 ear=point
    tail=thin grazes=1 paw=black
face black/fur: s -3 -9 -9 -9 -22 18 -17 14 -6 2
face black: o 13 4 4 3.5

= donkey: beast length=48 depth=25 leg=26 thick=5 neck=13 rise=14 head=12 muzzle=12 ear=long
    tail=thin grazes=1
face white: o 12 4 4.5 4
face black: o 14 3 1 1

= dog: beast length=46 depth=22 leg=24 thick=6 neck=9 rise=14 head=13 muzzle=11 ear=flop tail=up
face red: l 1.6 1.6 -9 9 -3 12 3 11
face black: o 14.5 2 2.4 2

= dachshund: beast length=66 depth=18 leg=9 thick=6 neck=8 rise=10 head=11 muzzle=13 snout=0.4
    ear=flop tail=up

= poodle: beast length=38 depth=20 leg=26 thick=5 neck=7 rise=16 head=11 muzzle=11 snout=0.36
    ear=flop tail=short coat=wool
face main/wool: o -5 -9 9 8
back main/wool: o 12 6 14 13; o -17 26 6 7; o -20 -8 5 5

= cat: beast length=42 depth=20 leg=20 thick=5 neck=6 rise=13 head=15 muzzle=5 snout=0.5
    ear=point tail=up
face white: l 0.5 0.4 7 3 18 1; l 0.5 0.4 7 4 18 6; o 5 4 5 3.6
face pink: o 7.5 2 1.6 1.2
face leaf: o 3 -3 2.4 2.8
face black: o 3.4 -3 1 2.4

= rabbit: beast length=32 depth=26 leg=8 thick=7 neck=4 rise=10 head=13 muzzle=5 ear=long
    tail=short
face pink: o 9 2 1.3 1; o -6 -18 1.6 8 -12
face white: r 7 5 9 8

= mouse: beast length=32 depth=22 leg=5 thick=4 neck=6 rise=1 head=11 muzzle=9 snout=0.28
    ear=round tail=thin
face dark: o -4 -9 7 7
face pink: o -4 -9 4.4 4.4; o 11 2.4 1.6 1.5

= fox: beast length=46 depth=19 leg=20 thick=5 neck=9 rise=12 head=12 muzzle=12 snout=0.3
    ear=point tail=bushy paw=black
face white/fur: s 2 3 10 3 14 4 8 7 0 8
back white/fur: o -46 20 6 5 40; s 18 12 26 6 26 18 16 19

= wolf: beast length=50 depth=22 leg=26 thick=6 neck=10 rise=12 head=13 muzzle=12 snout=0.4
    ear=point tail=bushy
face light/fur: s 2 3 11 3 14 4 8 8 -2 10
face yellow: o 3 -2.4 1.8 1.6
face black: o 3.3 -2.4 0.8 1

= deer: beast length=48 depth=21 leg=34 thick=4 neck=13 rise=22 head=10 muzzle=9 snout=0.4
    ear=side tail=short grazes=1
face wood: l 2 1.2 -2 -6 -8 -16 -4 -28; l 2 1 -7 -15 -14 -22; l 1.6 1 -6 -20 1 -24; l 2 1.2 2 -6
    5 -16 12 -24; l 1.6 1 6 -17 14 -17

= moose: beast length=58 depth=32 leg=38 thick=6 neck=16 rise=9 head=13 muzzle=17 snout=0.7
    ear=side tail=short
face tan: s -3 -7 -14 -14 -24 -28 -18 -26 -14 -32 -9 -24 -4 -28 -2 -16; s 3 -7 10 -12 12 -26 16
    -20 22 -26 22 -16 28 -14 16 -7
face main/fur: l 4 1 -2 8 -2 18

= bear: beast length=58 depth=36 leg=18 thick=12 neck=12 rise=7 head=16 muzzle=11 snout=0.46
    ear=round tail=short
face light/fur: o 10 4 6 5
face black: o 14.5 2 2.4 1.9

= panda: beast length=52 depth=36 leg=16 thick=12 neck=9 rise=10 head=18 muzzle=7 snout=0.5
    ear=round tail=short
face black/fur: o -10 -14 5 5; o 6 -16 5 5; o 3 -2 4 4.6 20; o -6 -1 3.4 4 -20
face white: o 4 -3 1.3 1.3
back black/fur: l 15 13 17 14 19 34 19 50; l 14 12 -20 26 -21 50; l 15 14 12 4 14 20

= lion: beast length=54 depth=26 leg=24 thick=8 neck=8 rise=8 head=14 muzzle=10 snout=0.62
    ear=round tail=thin
face deep/wool: s -2 -20 14 -16 16 -6 4 -8 0 6 8 14 2 24 -12 26 -24 16 -26 -2 -16 -18
face main/fur: o 2 0 9 10; o 8 4 7 5
face black: o 12.5 1.6 2.4 1.8; o 4 -3 1.5 1.7

= tiger: beast length=58 depth=26 leg=23 thick=8 neck=9 rise=5 head=15 muzzle=9 snout=0.6
    ear=round tail=up
face white/fur: o 8 5 6.5 5; o -2 9 5 4
face pink: o 12.5 2 2 1.5
face yellow: o 4 -3 2 2
face black: o 4.3 -3 1 1.3

= leopard: beast length=58 depth=22 leg=24 thick=6 neck=9 rise=6 head=12 muzzle=8 snout=0.55
    ear=round tail=up
face light: o 8 4 5 4
face black: o 11 2 1.6 1.3

= elephant: beast length=58 depth=40 leg=28 thick=13 neck=13 rise=3 head=20 muzzle=9 ear=fan
    tail=thin coat=skin
face main/skin: l 14 5 11 2 22 14 22 34 28 46
face white: l 5 1.5 9 11 16 19 25 18

= rhinoceros: beast length=66 depth=36 leg=18 thick=12 neck=14 rise=-6 head=17 muzzle=16
    snout=0.62 ear=point tail=thin coat=skin
face cream: s 15 0 24 -2 27 -18 19 -6; s 8 -4 13 -4 14 -12

= hippopotamus: beast length=66 depth=40 leg=11 thick=13 neck=11 rise=-4 head=20 muzzle=18
    snout=0.95 ear=round tail=short coat=skin
face dark/skin: o 25 6 9 10
face black: o 27 0 1.5 2; o 22 -2 1.5 2
face white: r 22 13 25 18

= giraffe: beast length=44 depth=26 leg=46 thick=6 neck=20 rise=62 head=11 muzzle=11 snout=0.5
    ear=side tail=thin
face tan: l 2 2.6 -2 -6 -3 -14; l 2 2.6 2 -6 3 -14
face cream: o 10 3.6 4.6 3.6

= camel: beast length=54 depth=26 leg=36 thick=6 neck=22 rise=20 head=10 muzzle=11 snout=0.6
    ear=round tail=thin
back main/fur: s -26 8 -16 -16 -5 2 2 4 12 -16 22 8

= squirrel: beast length=26 depth=18 leg=9 thick=5 neck=5 rise=13 head=11 muzzle=6 snout=0.36
    ear=point tail=short
face white: o 4 7 4 3
back main/fur: s -10 12 -24 6 -34 -18 -24 -32 -12 -26 -18 -18 -20 -4 -8 4

= kangaroo: beast length=34 depth=40 leg=14 thick=9 neck=8 rise=16 head=11 muzzle=11 snout=0.4
    ear=long tail=thin
back main/fur: l 13 4 -12 36 -34 46 -56 52; l 4 3 14 14 26 20; o -6 36 15 14

= monkey: beast length=30 depth=26 leg=18 thick=6 neck=5 rise=13 head=14 muzzle=5 snout=0.6
    ear=round tail=up
face tan: o 4 1 8 9
face black: o 2 -2 1.4 1.6; o 7 -2 1.4 1.6; l 1 1 2 6 5 7 8 5; o 4.5 2 1 0.8
back main/fur: l 5 4 12 8 26 12 32 0

= hen: bird size=22 plump=0.85 neck=6 head=8 beak=6 leg=12 tail=10 lift=-18
crown red: s -6 -6 -5 -13 -1 -9 1 -14 4 -9 8 -11 6 -6; o 7 7 2 4

= rooster: bird size=22 plump=0.8 neck=13 head=8 beak=6 leg=16 tail=6 wing=brown breast=dark
crown red: s -6 -6 -7 -15 -2 -10 1 -17 4 -10 9 -14 6 -6; o 7 8 2.6 5
crown leaf/feathers: l 7 3 -38 22 -52 2 -66 12 -68 26; l 6 3 -36 26 -46 12 -58 22 -60 34; l 5 2
    -38 18 -46 -8 -60 -4

= duck: bird size=24 plump=0.62 neck=10 head=9 beak=10 leg=7 tail=8 lift=-10 bill=yellow

= mallard: bird size=24 plump=0.62 neck=10 head=9 beak=10 leg=6 tail=8 lift=-10 wing=grey
    breast=brown bill=yellow
crown emerald/feathers: o 0 0 9 8.4; l 10 10 -2 5 -4 12
crown white: l 3 3 -9 15 3 16
crown black: o 3 -2 1.7 1.8

= swan: bird size=30 plump=0.55 neck=34 arch=9 head=7 beak=10 leg=0 tail=10 lift=-12 wing=light
crown black: s 5 -4 10 -1 6 3

= goose: bird size=26 plump=0.65 neck=24 arch=3 head=7 beak=9 leg=10 tail=10 lift=-6 wing=dark

= crow: bird size=22 plump=0.6 neck=7 head=9 beak=11 leg=11 tail=22 lift=6 wing=deep breast=main
    bill=black

= robin: bird size=20 plump=0.82 neck=5 head=10 beak=6 leg=11 tail=16 lift=-2 breast=orange
    bill=black
crown orange/feathers: o 3 4 6.5 6
crown black: o 3.5 -2 2 2.1

= parrot: bird size=22 plump=0.55 neck=14 head=10 beak=6 hook=8 leg=6 tail=36 lift=26 wing=blue
    breast=yellow bill=black
crown white: o 4 0 5 5
crown black: o 4.4 -1 1.7 1.8

= flamingo: bird size=19 plump=0.66 neck=36 arch=12 head=6 beak=9 hook=8 leg=46 tail=8 lift=2
    bill=black

= gull: bird size=23 plump=0.55 neck=8 head=8 beak=10 leg=9 tail=14 lift=0 wing=grey bill=yellow

= eagle: bird size=25 plump=0.72 neck=13 head=10 beak=8 hook=5 leg=10 tail=18 lift=14 wing=deep
    breast=main bill=yellow
crown white/feathers: o -0.5 0 10 9.6; l 16 18 -2 5 -6 13
crown yellow: s 6 -4 16 0 16 8 9 4
crown black: o 3 -2 1.7 1.7

= ostrich: bird size=27 plump=0.72 neck=46 head=7 beak=9 leg=46 tail=8 lift=-12 wing=black
    breast=black bill=tan

= pigeon: bird size=22 plump=0.66 neck=7 head=8 beak=6 leg=8 tail=18 lift=5 wing=dark bill=black
crown emerald/feathers: l 12 13 -3 7 -6 11

= peacock: bird size=22 plump=0.66 neck=22 head=7 beak=7 leg=16 tail=6 lift=0 wing=emerald
    breast=main bill=grey
crown blue: l 0.8 0.8 0 -5 -4 -15; l 0.8 0.8 0 -5 1 -16; o -4 -16 2 2; o 1 -17 2 2
crown emerald/eyes: s -22 30 -34 -20 -62 -42 -92 -26 -104 8 -84 34 -50 44

= goldfish: fish length=34 depth=19 tail=24 fin=12

= clownfish: fish length=36 depth=17 tail=14 fin=9 belly=main
marks white: s 10 -16 18 -15 17 14 9 16 13 0; s -12 -14 -5 -15 -6 14 -13 13 -9 0; s -31 -6 -27
    -8 -27 8 -31 6
marks black: l 1.6 1.6 9 -16 12 0 8 16; l 1.6 1.6 -14 -14 -11 0 -14 13

= trout: fish length=46 depth=13 tail=12 fin=7

= shark: fish length=58 depth=15 tail=16 fin=16 belly=white
marks main/skin: s -6 -12 6 -34 14 -13; s 8 10 -6 30 22 12; s -56 0 -78 -30 -66 0
marks white: p 40 6 43 9 46 5 49 8 51 4
marks black: l 0.8 0.8 24 -4 22 6; l 0.8 0.8 20 -4 18 6; l 0.8 0.8 16 -4 14 6

= whale: fish length=52 depth=27 tail=18 fin=3 belly=light
marks dark/skin: l 0.8 0.8 0 20 40 14; l 0.8 0.8 4 16 44 10; s -48 -4 -76 -26 -62 -4 -76 10
marks glass: l 2 3 20 -26 18 -42 8 -48; l 2 3 21 -26 24 -42 34 -47

= dolphin: fish length=50 depth=14 tail=14 fin=14 belly=white
marks main/skin: l 9 5 44 1 62 4; s -8 -11 -12 -28 12 -12

= orca: fish length=54 depth=19 tail=16 fin=10 belly=white
marks black: s -8 -15 -6 -44 12 -16
marks white: o 30 -9 8 3.6 10; o -24 8 12 5 -14

= girl: person hair=brown dress=1
hat pink: s 4 -93 12 -98 11 -90; s 4 -93 -3 -98 -2 -90

= boy: person hair=black legs=tan

= farmer: person hair=grey legs=blue
hat straw/wool: o 0 -90 17 4; s -9 -91 -6 -101 6 -101 9 -91
tool wood: l 2 2 24 -2 24 -66
tool steel: l 1.6 1 24 -64 18 -70 18 -84; l 1.6 1 24 -64 30 -70 30 -84; l 1.6 1 24 -64 24 -84
tool blue/cloth: r -8 -62 8 -42

= cook: person hair=black legs=grey
hat white/cloth: r -8 -99 8 -89; s -11 -99 -13 -108 0 -114 13 -108 11 -99
tool steel: l 2 2 22 -46 30 -66; o 32 -70 5 4 -60

= firefighter: person hair=brown legs=black
hat red/metal: s -12 -88 -9 -102 0 -105 9 -102 12 -88; o 0 -88 15 3
hat yellow: p 0 -100 4 -95 0 -90 -4 -95
tool yellow: r -13 -53 13 -50; r -11 -14 11 -11

= astronaut: person hair=grey legs=white
hat white/cloth: o 0 -82 16 17
hat black/metal: o 1 -82 11 11
hat light: o 5 -86 3 4 30
tool grey: r -8 -63 8 -52 1
tool red: o -4 -57 1.6 1.6
tool blue: o 3 -57 1.6 1.6
tool light/cloth: l 9 8 -5 -40 -6 -8; l 9 8 5 -40 6 -8

= skier: person hair=brown legs=black
hat red/wool: s -11 -86 -9 -98 0 -102 9 -98 11 -86
hat white: o 0 -103 4 4
hat blue: r -9 -83 9 -78 2
tool grey: l 1 1 -20 -44 -26 0; l 1 1 21 -44 28 0
tool yellow: l 2.4 2 -26 2 20 0 26 -4; l 2.4 2 -12 5 32 3 38 -1

= wheels parts
black/fur: o 23 80 11 11; o 77 80 11 11
silver: o 23 80 6 6; o 77 80 6 6
grey: o 23 80 2 2; o 77 80 2 2

= car parts
black: r 8 74 92 84
main/metal: s 1 66 4 57 22 53 32 39 38 36 62 36 70 40 80 53 95 57 99 66 98 79 2 79
glass: p 28 53 36 41 49 41 49 53; p 53 53 53 41 63 41 74 53
dark: l 0.7 0.7 51 55 51 76; l 1.4 1.4 56 59 61 59; l 1 1 4 72 96 72
cream: o 95 63 3 3.4
red: o 3 62 2 3.4

= bus parts
main/metal: r 0 22 100 82 5
glass: r 4 31 18 51 1; r 21 31 35 51 1; r 38 31 52 51 1; r 55 31 69 51 1; r 87 30 99 55 1
dark: r 72 32 84 80; r 0 58 70 61
glass: r 74 35 82 58
cream: o 97 72 2.4 3

= truck parts
grey/metal: r 2 74 98 82
black/fur: o 18 84 9 9; o 34 84 9 9; o 84 84 9 9
silver: o 18 84 4 4; o 34 84 4 4; o 84 84 4 4

= tree parts
bark/wood: s 43 100 46 70 44 52 56 52 54 70 58 100; l 5 2 48 66 34 50; l 5 2 52 64 66 48

= stem parts
green/leaves: l 2.6 3 50 40 52 70 50 100; s 50 84 34 70 24 72 36 86; s 51 78 66 64 76 68 64 82

= car
@car parts
@wheels parts

= taxi
@car parts
cream: r 42 29 58 36 1
black: r 45 31 55 34; r 6 62 12 65; r 18 62 24 65; r 30 62 36 65; r 42 62 48 65; r 54 62 60 65;
    r 66 62 72 65; r 78 62 84 65
@wheels parts

= police
@car parts
white: p 27 55 75 55 75 77 27 77
blue: r 51 29 60 36 1
red: r 40 29 49 36 1
blue: r 30 63 72 68
yellow: o 40 60 3 3
@wheels parts

= sports
black: r 8 76 92 84
main/metal: s 0 70 6 62 26 60 40 48 58 47 72 58 96 66 100 76 97 81 2 81
black: p 34 59 43 50 56 50 65 59
dark: s 2 62 0 54 12 54 14 60; l 1 1 40 72 70 70
cream: l 3 2 88 66 94 69
@wheels parts

= bus
@bus parts
@wheels parts

= schoolbus
main/metal: r 0 24 80 80 5; r 70 52 100 80 4
black: r 0 56 100 58; r 0 64 80 66
glass: r 4 32 15 50; r 18 32 29 50; r 32 32 43 50; r 46 32 57 50; r 62 32 77 52
red: p 40 60 46 60 48 64 46 68 40 68 38 64
cream: o 98 64 2 3
@wheels parts

= doubledecker
main/metal: r 0 0 100 84 5
glass: r 5 8 20 26; r 24 8 39 26; r 43 8 58 26; r 62 8 77 26; r 82 8 96 26; r 5 46 20 64; r 24
    46 39 64; r 43 46 58 64; r 84 44 98 66
dark: r 0 34 100 38; r 64 44 78 82
cream: r 24 29 76 33
@wheels parts

= fireengine
@truck parts
main/metal: r 2 42 66 78 1; r 68 32 98 78 4
glass: p 80 38 94 38 97 54 80 54; r 70 38 77 54
silver/metal: r 6 54 22 72; r 26 54 42 72; r 46 54 62 72
cream: r 2 46 66 49; r 68 60 98 63
blue: r 76 26 84 32 1
grey: l 2 2 0 34 78 22; l 2 2 0 40 78 28; l 1.4 1.4 8 34 8 38; l 1.4 1.4 20 32 20 37; l 1.4 1.4
    32 30 32 35; l 1.4 1.4 44 28 44 34; l 1.4 1.4 56 26 56 32; l 1.4 1.4 68 24 68 30

= ambulance
main/metal: r 0 26 70 80 3; s 68 30 84 32 94 54 100 60 100 80 68 80
glass: p 74 36 84 37 91 54 74 54; r 48 34 66 50
red: r 0 60 100 65; r 20 32 27 54; r 12 39 35 47
blue: r 56 20 66 26 1
@wheels parts

= garbage
@truck parts
main/metal: s 0 40 8 26 62 26 64 78 4 78; r 68 36 98 78 4
deep: l 1.4 1.4 22 28 22 76; l 1.4 1.4 42 28 42 76; p 0 44 10 30 14 78 2 78
glass: p 80 41 94 41 97 56 80 56

= pickup
@truck parts
main/metal: s 2 58 44 58 48 36 68 36 80 56 98 60 98 80 2 80
glass: p 52 55 53 41 66 41 75 55
dark: r 2 62 44 64; l 1 1 48 62 48 78
cream: o 95 64 2.4 3

= tractor
main/metal: r 36 46 92 70 4; p 14 46 40 46 40 72 14 66
grey/metal: r 66 26 70 46; r 88 50 93 66
main/metal: r 10 12 46 18 2
glass: p 15 18 42 18 40 46 14 46
deep: l 2 2 14 18 13 46; l 2 2 42 18 41 46
black/fur: o 24 74 26 26; o 82 84 16 16
yellow: o 24 74 13 13; o 82 84 8 8
deep: o 24 74 4 4; o 82 84 2.5 2.5; l 1 1 50 52 62 52; l 1 1 50 57 62 57

= bicycle
black: o 22 74 22 22; o 80 74 22 22
light: o 22 74 19 19; o 80 74 19 19
grey: l 0.6 0.6 3 74 41 74; l 0.6 0.6 22 55 22 93; l 0.6 0.6 9 61 35 87; l 0.6 0.6 35 61 9 87; l
    0.6 0.6 61 74 99 74; l 0.6 0.6 80 55 80 93; l 0.6 0.6 67 61 93 87; l 0.6 0.6 93 61 67 87
main/metal: l 3 3 22 74 38 46; l 3 3 38 46 70 46; l 3 3 38 46 48 76; l 3 3 48 76 70 46; l 3 3 22
    74 48 76; l 3 3 68 36 80 74
black: l 2.4 2.4 60 34 68 36 74 30; s 28 40 30 37 44 37 46 41; o 48 76 5 5; l 2 2 48 76 54 84

= motorcycle
black/fur: o 20 78 20 20; o 84 78 20 20
silver: o 20 78 11 11; o 84 78 11 11
grey/metal: l 4 4 84 78 72 40; l 4 4 20 78 48 74; o 50 72 14 13; l 4 5 48 84 12 88
main/metal: s 38 52 48 42 70 44 70 56 50 60; s 8 56 26 54 36 60 20 62
black: s 18 52 26 46 46 50 42 56 24 57; l 3 3 72 40 64 32
cream: o 76 48 5 6

= train
black/metal: r 4 18 34 66; r 30 38 92 68 6
main/metal: r 0 12 38 20; r 8 24 30 60; r 4 60 96 72
glass: r 12 28 26 44
black/metal: p 76 16 88 16 84 40 80 40; s 52 40 52 28 62 28 62 40
gold: r 44 38 47 68; r 64 38 67 68; o 92 52 5 6
light/wool: s 76 12 62 2 44 6 34 -6 48 -14 70 -10 90 -2
main: o 18 84 14 14; o 48 84 14 14; o 78 88 10 10
black: o 18 84 10 10; o 48 84 10 10; o 78 88 7 7
silver/metal: l 3 3 16 84 50 84 78 84; p 92 84 104 98 90 98

= tram
grey: l 1.6 1.6 36 4 50 20; l 1.6 1.6 64 4 50 20; l 1.6 1.6 28 4 72 4
main/metal: r 0 22 100 88 6
cream/metal: r 0 28 100 58
glass: r 5 32 20 54; r 23 32 38 54; r 62 32 77 54; r 80 32 95 54
dark: r 41 30 59 86; r 0 74 100 77
glass: r 43 34 49 70; r 51 34 57 70
black: o 20 92 7 7; o 36 92 7 7; o 64 92 7 7; o 80 92 7 7

= airplane
dark/metal: p 44 46 60 28 68 28 62 48
main/metal: s 0 44 4 38 60 38 88 42 100 50 92 56 40 58 8 52
main/metal: p 2 44 -4 18 8 18 20 42; p 0 46 -8 40 4 38 16 46
blue: l 2.4 2.4 10 50 94 50
glass: o 26 45 1.8 2.2; o 34 45 1.8 2.2; o 42 45 1.8 2.2; o 50 45 1.8 2.2; o 58 45 1.8 2.2; o 66
    45 1.8 2.2; o 74 45 1.8 2.2; p 86 43 93 46 88 47
dark/metal: p 62 52 34 82 24 82 42 52
grey/metal: r 42 62 56 70 3; r 34 72 46 78 3

= helicopter
grey: l 3 2 40 46 0 34; o 0 32 2 12; l 2 2 58 14 58 30
black: l 1.6 1.6 6 13 110 13
main/metal: s 34 44 44 30 66 28 86 40 92 58 80 68 48 66; p 0 26 10 26 14 42 2 40; l 10 4 42 46 4
    35
glass: s 66 33 82 40 89 54 70 55
grey: l 2 2 48 66 46 78; l 2 2 74 66 76 78; l 2.4 2.4 34 79 90 79
dark: r 48 42 60 58 1

= balloon
wood: l 0.7 0.7 34 58 44 82; l 0.7 0.7 66 58 56 82
main/cloth: s 50 0 24 6 12 28 24 52 42 70 58 70 76 52 88 28 76 6
light/cloth: s 50 0 38 14 36 44 46 70 54 70 64 44 62 14
main/cloth: s 50 0 46 20 48 70 52 70 54 20
deep: r 41 68 59 71
straw/wool: r 42 82 58 95 2

= rocket
orange/fur: s 40 88 36 104 50 124 64 104 60 88
yellow/fur: s 44 88 43 100 50 112 57 100 56 88
red/metal: p 34 60 18 90 36 84; p 66 60 82 90 64 84
main/metal: s 50 0 36 22 32 56 38 88 62 88 68 56 64 22
red/metal: s 50 -1 42 9 38 20 62 20 58 9
blue: o 50 38 9 9
glass: o 50 38 6 6
grey: r 38 84 62 90; r 34 64 66 66

= sailboat
wood/wood: l 1.8 1.8 48 6 48 80
main/cloth: s 50 8 62 34 86 70 50 70
cream/cloth: s 46 14 36 40 20 68 46 68
red: p 48 2 48 9 60 5
brown/wood: s 6 76 94 76 84 96 22 96
cream: l 1.6 1.6 10 80 90 80

= ship
main/metal: p 2 66 98 60 90 94 12 94
deep: p 8 84 92 84 90 94 12 94
white/metal: r 18 44 70 66; r 24 30 58 45
glass: o 26 55 3 3; o 36 55 3 3; o 46 55 3 3; o 56 55 3 3; r 28 34 54 40
red/metal: r 32 10 42 30; r 48 12 57 30
black: r 32 10 42 15; r 48 12 57 17
light/wool: s 36 8 26 -2 10 0 4 -10 22 -14 40 -6

= canoe
main/wood: s 0 60 8 68 50 74 92 68 100 60 92 86 50 92 8 86
deep/wood: s 10 70 50 75 90 70 50 80
wood/wood: l 2 2 30 50 66 84; o 27 46 3 7 -40

= submarine
main/metal: s 0 64 10 48 50 42 88 48 100 62 88 78 50 84 10 78; r 40 24 62 48 4
grey: l 2.4 2.4 52 26 52 8 60 8; p 0 52 -10 44 -8 84 2 74
gold: o 30 62 6 6; o 50 62 6 6; o 70 62 6 6
glass: o 30 62 4 4; o 50 62 4 4; o 70 62 4 4

= rowboat
deep/wood: s 4 58 50 66 96 58 86 76 14 76
main/wood: s 2 60 50 70 98 60 86 92 50 96 14 92
cream/wood: l 2 2 3 62 50 71 97 62; r 30 64 42 69; r 60 64 72 69
wood/wood: l 2 2 44 62 16 96; l 2 4 20 90 12 102

= house
grey/brick: r 68 8 78 36
main/brick: r 10 44 90 100
roof/scales: p 0 46 24 10 76 10 100 46
wood/wood: r 42 66 58 100
cream: r 17 54 35 74; r 65 54 83 74
glass: r 19 56 33 72; r 67 56 81 72
cream: l 1 1 26 56 26 72; l 1 1 19 64 33 64; l 1 1 74 56 74 72; l 1 1 67 64 81 64
gold: o 54 84 1.4 1.4

= barn
main/planks: p 8 100 8 50 24 20 50 8 76 20 92 50 92 100
grey/planks: p 2 52 20 18 50 4 80 18 98 52 90 54 76 24 50 12 24 24 10 54
white/planks: r 30 58 70 100; r 42 28 58 42
main/planks: r 33 61 67 100
white: l 2.4 2.4 34 62 66 99; l 2.4 2.4 66 62 34 99; l 2 2 50 60 50 100
black: r 44 30 56 40

= lighthouse
stone/brick: s 20 100 26 90 74 90 84 100
white/brick: p 36 24 64 24 72 94 28 94
main/brick: p 34.5 36 65.5 36 67 50 33 50; p 31.5 64 68.5 64 70 78 30 78
black: r 30 21 70 25; r 38 6 62 9
yellow: r 39 9 61 21
main: p 36 6 50 -6 64 6
black: l 1 1 45 9 45 21; l 1 1 55 9 55 21; r 47 54 53 62; r 45 82 55 94

= castle
stone/brick: r 18 46 82 100; r 2 26 24 100; r 76 26 98 100; r 36 20 64 60
stone/brick: r 2 20 8 28; r 10 20 16 28; r 18 20 24 28; r 76 20 82 28; r 84 20 90 28; r 92 20 98
    28; r 26 40 32 48; r 68 40 74 48
main/scales: p 32 22 50 -8 68 22
black: s 40 100 40 74 50 66 60 74 60 100; r 10 42 15 56; r 85 42 90 56; r 47 32 53 44
wood/wood: r 43 78 57 100
main: l 1 1 50 -8 50 -20; p 50 -20 62 -16 50 -12

= church
white/brick: r 34 46 96 100; r 8 34 36 100
main/scales: p 30 48 42 24 90 24 100 48; p 4 36 22 -12 40 36
gold: l 1.6 1.6 22 -12 22 -26; l 1.6 1.6 17 -20 27 -20
glass: s 46 84 46 66 51 58 56 66 56 84; s 64 84 64 66 69 58 74 66 74 84; s 80 84 80 66 85 58 90
    66 90 84; o 22 48 5 5
wood/wood: s 15 100 15 80 22 72 29 80 29 100

= windmill
main/brick: p 34 40 66 40 74 100 26 100
roof/scales: s 32 42 40 26 50 22 60 26 68 42
wood/wood: r 44 80 56 100
glass: r 46 54 54 62
wood: l 2 2 50 36 16 2; l 2 2 50 36 84 70; l 2 2 50 36 84 2; l 2 2 50 36 16 70
cream/planks: p 44 26 20 0 12 8 36 34; p 56 46 80 72 88 64 64 38; p 60 30 86 6 78 -2 54 22; p 40
    42 14 66 22 74 46 50
black: o 50 36 3 3

= skyscraper
grey/windows: r 4 44 30 100; r 72 30 98 100
main/windows: r 30 0 70 100
light/windows: r 38 -12 62 0
grey: l 1.2 1.2 50 -12 50 -30

= tent
main/cloth: p 50 10 0 96 100 96
dark/cloth: p 50 10 78 96 100 96
black: p 42 40 26 96 58 96
light/cloth: p 42 40 26 96 36 96
wood: l 1.6 1.6 50 10 47 4; l 1 1 2 94 -8 100; l 1 1 98 94 108 100

= igloo
white/brick: s 0 100 4 64 28 36 54 34 78 44 92 70 96 100
light/brick: s 56 100 58 74 74 66 96 70 104 82 106 100
blue: s 72 100 74 84 84 78 96 84 99 100

= snowman
white/wool: o 50 82 26 22; o 50 50 19 17; o 50 26 13 12
wood: l 2 1 34 48 12 34; l 2 1 66 48 90 36
main/cloth: s 36 36 50 40 64 36 62 42 40 43; s 58 40 64 40 66 62 58 60
black/cloth: r 36 12 64 16; r 41 -4 59 13
black: o 45 23 1.6 1.8; o 55 23 1.6 1.8; o 50 48 1.8 1.8; o 50 56 1.8 1.8; o 50 76 1.8 1.8
orange: p 50 26 66 30 50 30

= well
wood/wood: r 18 22 24 66; r 76 22 82 66; l 3 3 16 40 84 40
roof/scales: p 6 26 34 0 66 0 94 26
stone/brick: s 12 64 88 64 84 100 16 100
black: o 50 66 32 5
straw: l 1 1 50 40 50 56
wood/wood: p 42 54 58 54 56 68 44 68

= tree
@tree parts
main/leaves: s 50 -4 32 2 14 16 10 36 22 52 40 50 56 58 76 52 90 38 84 16 68 0
light/leaves: s 36 10 24 22 30 34 46 26

= appletree
@tree parts
main/leaves: s 50 -2 30 4 14 20 14 42 30 54 50 52 70 54 86 40 86 20 70 4
red: o 30 22 4 4; o 48 14 4 4; o 66 24 4 4; o 40 38 4 4; o 58 42 4 4; o 76 38 4 4; o 22 38 4 4

= pine
bark/wood: r 46 80 54 100
main/needles: p 50 44 16 86 84 86; p 50 22 22 64 78 64; p 50 2 28 42 72 42

= palm
bark/scales: s 46 100 50 70 58 40 64 32 66 38 60 64 57 100
main/leaves: s 64 32 44 18 22 24 14 42 36 30 60 36; s 64 32 84 16 104 26 110 46 92 32 66 38; s
    64 32 58 8 38 0 28 8 46 12 60 32; s 64 32 74 6 94 2 102 10 84 14 68 32; s 62 34 44 40 36 60
    50 50; s 66 34 84 42 90 62 78 50
brown: o 60 37 4 4; o 67 38 4 4

= cactus
main/stripes: l 20 20 50 100 50 18; l 12 12 50 66 24 64 22 40; l 12 12 50 54 76 52 78 26
pink: o 50 8 5 5; o 44 9 4 3; o 56 9 4 3

= sunflower
@stem parts
yellow/feathers: o 50 10 6 15; o 50 44 6 15; o 33 27 15 6; o 67 27 15 6; o 38 15 6 15 -45; o 62
    15 6 15 45; o 38 39 6 15 45; o 62 39 6 15 -45; o 43 11 5 14 -22; o 57 11 5 14 22; o 43 43 5
    14 22; o 57 43 5 14 -22
brown/scales: o 50 27 13 13

= daisy
@stem parts
main: o 50 14 5 12; o 50 40 5 12; o 37 27 12 5; o 63 27 12 5; o 41 18 5 12 -45; o 59 18 5 12 45;
    o 41 36 5 12 45; o 59 36 5 12 -45
yellow/scales: o 50 27 7 7

= tulip
@stem parts
main/feathers: s 34 16 32 36 42 46 58 46 68 36 66 16 58 28 50 12 42 28
dark/feathers: s 50 14 42 30 46 46 54 46 58 30

= rose
@stem parts
main/cloth: s 50 6 30 10 24 28 34 46 50 50 66 46 76 28 70 10
dark/cloth: s 50 12 38 18 36 32 50 40 64 32 62 18
main/cloth: s 50 16 42 22 44 32 56 32 58 22
deep: l 1.4 1 50 24 46 26 50 30 56 26 50 20 42 24

= bouquet
green/leaves: l 2 2 50 30 50 64; l 2 2 34 32 48 64; l 2 2 66 32 52 64; s 40 60 22 44 26 60; s 60
    60 80 44 76 60
red: o 34 26 10 10
yellow: o 50 16 10 10
pink: o 66 26 10 10
white: o 43 40 8 8; o 58 40 8 8
orange: o 34 26 4 4; o 50 16 4 4; o 66 26 4 4; o 43 40 3 3; o 58 40 3 3
main/glaze: s 40 58 60 58 56 68 72 84 64 100 36 100 28 84 44 68

= mushroom
cream/fur: s 40 50 60 50 58 76 66 100 34 100 42 76
main: s 4 54 10 26 34 8 66 8 90 26 96 54 50 62
white: o 30 28 6 5; o 54 20 7 5; o 74 36 7 6; o 46 42 6 5; o 20 46 4 4

= butterfly
main/eyes: s 50 46 34 14 8 6 4 30 20 50 50 54; s 50 46 66 14 92 6 96 30 80 50 50 54
dark/eyes: s 50 52 24 54 14 74 28 92 44 78; s 50 52 76 54 86 74 72 92 56 78
black: l 5 3 50 34 50 80; o 50 32 4 4; l 1 1 49 30 40 12; l 1 1 51 30 60 12; o 40 11 1.6 1.6; o
    60 11 1.6 1.6

= bee
glass/fur: o 40 26 10 24 -30; o 62 26 10 24 20
main: o 48 60 36 24
black/fur: s 34 38 42 37 42 83 34 82; s 56 37 64 40 64 80 56 83; o 82 56 14 14; p 14 58 2 62 14
    66
white: o 87 52 3 3.4
black: l 1.4 1 86 44 92 32; l 1.4 1 80 43 82 30; l 2 1 40 80 38 94; l 2 1 56 80 58 94; l 2 1 68
    76 72 90

= ladybird
black: o 82 62 16 18; l 2 1 90 48 98 36; l 2 1 86 46 90 32; l 3 2 26 84 20 96; l 3 2 48 88 48
    98; l 3 2 68 84 74 96
main/glaze: s 4 70 8 44 30 26 54 26 74 40 80 70 60 88 22 88
black: l 2 2 10 66 80 56; o 28 42 7 7; o 52 38 7 7; o 36 74 7 7; o 62 72 6 6; o 18 60 4 4
white: o 88 56 4 4

= snail
tan/skin: s 4 98 20 88 60 84 78 70 80 52 88 48 98 56 94 76 80 96
tan: l 2.4 1.6 84 54 80 32; l 2.4 1.6 92 54 98 34
black: o 80 31 2.6 2.6; o 98 33 2.6 2.6
main/wood: o 42 60 33 33
deep: l 2 3 42 60 50 58 46 50 36 54 34 66 46 74 60 66 58 48 42 40 26 50 24 70 40 86

= frog
main/skin: s 14 96 4 76 18 62 34 72; s 86 96 96 76 82 62 66 72; o 50 66 34 28; o 50 42 32 22; o
    30 24 11 11; o 70 24 11 11
light/skin: o 50 76 22 18
main/skin: l 9 7 34 76 32 92 24 98; l 9 7 66 76 68 92 76 98; l 5 4 12 96 26 98; l 5 4 88 96 74
    98
yellow: o 30 22 7 7; o 70 22 7 7
black: o 30 22 4.6 3; o 70 22 4.6 3; l 1.4 1.4 26 48 50 56 74 48; o 46 38 1 1; o 54 38 1 1

= snake
main/scales: l 6 11 -4 94 16 96 30 84 46 94 64 96 76 80 66 64 48 66 40 54 54 44 70 46
main/scales: s 64 36 84 36 96 46 84 54 64 54
yellow: o 82 41 2.4 2.4
black: o 82.5 41 1 1.8
red: l 1 1 95 47 106 48; l 1 0.6 104 48 110 45; l 1 0.6 104 48 110 51

= crocodile
dark/scales: l 8 6 24 78 18 98; l 8 6 56 78 60 98
main/scales: s -30 74 -6 70 10 60 40 56 62 60 74 58 82 64 104 70 108 76 90 80 72 80 40 86 10 84
    -10 80
main/scales: o 74 58 6 6; l 9 6 34 80 30 98 36 99; l 9 6 66 78 70 98 76 99; p 4 62 8 54 12 61; p
    16 60 20 51 25 58; p 30 57 34 49 38 57; p 44 57 48 50 52 58; p -10 70 -6 62 -2 67
cream: p 80 77 106 74 104 80 88 82
white: p 84 76 86 80 88 76; p 90 76 92 80 94 75; p 96 75 98 79 100 74
yellow: o 75 57 3 3
black: o 75.5 57 1.2 2.4

= turtle
green/scales: s 78 60 88 44 104 46 106 58 96 66 80 70; s 28 74 10 92 2 86 14 68; s 66 74 76 96
    86 94 80 70; s 8 62 -6 60 -2 66
main/scales: s 8 70 12 44 34 28 58 28 78 42 86 68 50 78
dark: p 38 38 54 38 60 52 48 62 34 54; l 1.4 1.4 38 38 30 31; l 1.4 1.4 54 38 62 31; l 1.4 1.4
    34 54 14 60; l 1.4 1.4 60 52 82 56; l 1.4 1.4 48 62 48 74
cream: l 5 5 10 70 50 77 84 69
black: o 99 53 1.8 1.8

= tortoise
tan/scales: l 12 12 24 74 22 96; l 12 12 68 74 70 96; s 78 62 92 36 106 40 106 54 92 76; l 4 2 8
    76 -4 82
main/scales: s 4 78 6 44 30 18 58 16 82 38 90 76 50 82
deep: o 46 42 14 12; o 22 58 9 10; o 70 56 9 10; o 46 66 10 7
light: o 46 42 9 7; o 22 58 5 6; o 70 56 5 6
black: o 100 46 2 2

= jellyfish
light: l 3 1 30 44 24 70 34 96 28 118; l 3 1 42 46 46 72 38 96 44 122; l 3 1 56 46 52 72 62 98
    56 122; l 3 1 70 44 76 70 66 96 74 116
main/glaze: s 10 46 14 18 34 2 66 2 86 18 90 46 78 42 70 50 60 43 50 51 40 43 30 50 22 42
light: o 38 20 12 7 -24

= octopus
main/skin: l 12 4 36 60 12 70 4 92 16 98; l 12 4 42 64 28 84 20 104 34 108; l 12 4 50 64 48 90
    52 112; l 12 4 58 64 72 84 80 104 66 108; l 12 4 64 60 88 70 96 92 84 98
main/skin: s 50 2 26 8 18 32 26 60 50 72 74 60 82 32 74 8
light: o 44 92 2 2; o 30 84 2 2; o 70 86 2 2; o 14 76 2 2; o 88 78 2 2
white: o 38 44 8 9; o 62 44 8 9
black: o 40 45 4 5; o 60 45 4 5; l 1.4 1.4 44 60 50 63 56 60

= crab
main/skin: l 5 4 22 66 4 70 0 88; l 5 4 26 72 12 82 10 98; l 5 4 78 66 96 70 100 88; l 5 4 74 72
    88 82 90 98; l 6 6 22 56 8 42 12 28; l 6 6 78 56 92 42 88 28
main/skin: s 12 6 0 22 12 36 26 24 22 6 14 20; s 88 6 100 22 88 36 74 24 78 6 86 20
main/scales: s 16 62 26 48 50 42 74 48 84 62 70 80 50 84 30 80
main: l 2.4 2.4 42 46 40 34; l 2.4 2.4 58 46 60 34
white: o 40 32 4 4; o 60 32 4 4
black: o 40 32 2 2; o 60 32 2 2; l 1.2 1.2 40 68 50 72 60 68

= lobster
main/scales: l 3 2 34 60 16 66; l 3 2 34 68 16 76; l 3 2 36 76 20 88; l 3 2 66 60 84 66; l 3 2
    66 68 84 76; l 3 2 64 76 80 88; l 7 6 40 46 20 36 18 16; l 7 6 60 46 80 36 82 16
main/skin: s 16 -12 4 4 14 22 28 12 26 -8 18 4; s 84 -12 96 4 86 22 72 12 74 -8 82 4
main/scales: s 40 36 60 36 66 60 60 90 40 90 34 60; r 40 88 60 100 3; s 44 100 28 112 40 118 50
    106; s 56 100 72 112 60 118 50 106
dark: l 1.6 1.6 37 64 63 64; l 1.6 1.6 37 74 63 74; l 1.6 1.6 40 84 60 84; l 1 0.6 46 38 38 2 24
    -20; l 1 0.6 54 38 62 2 76 -20
black: o 45 40 2 2; o 55 40 2 2

= starfish
main/scales: s 50 2 57 34 94 36 64 56 76 94 50 70 24 94 36 56 6 36 43 34
light: o 50 20 2 2; o 50 34 2 2; o 76 42 2 2; o 64 46 2 2; o 66 78 2 2; o 59 64 2 2; o 34 78 2
    2; o 41 64 2 2; o 24 42 2 2; o 36 46 2 2; o 50 50 3 3

= seal
dark/skin: s 12 84 -10 78 -8 96 10 94; l 9 5 62 80 76 98
main/skin: s 4 88 20 64 46 54 60 28 76 18 92 28 94 40 82 52 80 78 66 94 30 97
light/skin: s 70 60 80 56 76 84 60 92
black: o 94 33 3 2.4; o 82 30 2.4 2.6; l 0.6 0.5 88 38 100 42; l 0.6 0.5 88 40 98 47
main/skin: l 9 5 56 80 54 98 64 100

= penguin
orange: o 40 97 10 4; o 60 97 10 4
main/feathers: s 50 0 34 6 32 26 20 52 24 86 50 98 76 86 80 52 68 26 66 6
white/feathers: s 50 32 36 40 30 66 38 92 50 95 62 92 70 66 64 40; o 42 18 7 8; o 58 18 7 8
main/feathers: l 10 4 28 40 14 56 14 72; l 10 4 72 40 86 56 86 72
yellow/feathers: s 36 26 50 36 64 26 60 38 40 38
black: o 43 18 2.2 2.6; o 57 18 2.2 2.6
orange: p 44 22 56 22 50 31

= owl
wood/wood: l 6 5 4 96 96 94
main/feathers: s 50 10 26 2 24 18 18 50 26 82 50 94 74 82 82 50 76 18 74 2
light/scales: s 50 42 34 54 34 78 50 90 66 78 66 54
dark/feathers: s 22 36 12 62 24 84 34 60; s 78 36 88 62 76 84 66 60
cream/feathers: o 37 26 13 13; o 63 26 13 13
yellow: o 38 26 8 8; o 62 26 8 8
black: o 39 26 4.6 4.6; o 61 26 4.6 4.6
orange: p 46 32 54 32 50 42; l 3 3 40 90 40 97; l 3 3 60 90 60 97

= hedgehog
tan/fur: s 66 90 70 60 82 58 102 76 104 82 84 92; l 5 5 30 88 30 98; l 5 5 66 88 66 98
main/needles: s 2 90 0 66 14 34 40 20 62 28 78 52 76 92
main: p 4 62 -6 54 8 50; p 10 44 2 34 16 36; p 22 30 18 18 30 26; p 38 22 38 8 46 21; p 52 23 56
    11 60 27; p 64 32 72 22 70 40
black: o 104 77 3.4 3; o 86 68 2.2 2.4
tan: o 76 58 5 6

= teapot
main/glaze: l 6 6 76 48 98 44 96 72 76 80
main/glaze: l 11 5 24 66 8 56 0 38; o 50 66 31 29
dark: o 50 39 16 4
main/glaze: s 34 38 42 28 58 28 66 38
dark: o 50 25 4.4 4.4
light: o 38 56 7 10 30; r 34 93 66 98

= cup
white/glaze: o 46 96 46 6
main/glaze: l 6 6 74 48 96 48 94 74 70 78
main/glaze: s 14 38 78 38 74 78 62 94 30 94 18 78
deep: o 46 39 31 7
coffee: o 46 40 28 5.4
light: l 1.6 1 38 28 34 18 40 8; l 1.6 1 54 28 50 16 56 4

= pot
main/metal: l 5 5 8 58 -4 54 -2 66; l 5 5 92 58 104 54 102 66; r 8 46 92 96 7
silver/metal: s 6 47 20 34 50 29 80 34 94 47
black: o 50 26 6 5
light: l 2 2 18 56 18 86

= pan
black/metal: l 7 8 70 74 112 52 134 42
main/metal: o 42 74 42 20
deep/metal: o 42 72 37 15.6
white/glaze: s 22 70 34 60 50 62 62 70 58 80 38 84 24 80
yellow: o 42 71 8 6

= toaster
bread: r 26 20 46 50 6; r 54 20 74 50 6
main/metal: r 8 38 92 94 12
black: r 20 36 80 41; r 92 54 99 62; r 14 92 26 98; r 74 92 86 98
dark: l 2 2 20 80 80 80; o 80 62 4 4

= kettle
black: l 6 6 22 42 30 8 70 8 78 42
main/metal: l 12 6 72 66 90 50 102 42; s 16 94 12 68 24 46 40 38 60 38 76 46 88 68 84 94
dark: o 50 38 14 4
black: o 50 33 5 4
light: l 4 3 28 58 24 80

= refrigerator
black: r 22 96 32 100; r 68 96 78 100
main/metal: r 16 0 84 97 4
dark: r 16 34 84 36.5
grey: r 22 14 25 30 1; r 22 42 25 66 1
red: r 50 46 60 54
yellow: r 62 52 72 62

= stove
main/metal: r 8 30 92 98 3
black: r 8 28 92 33; o 22 41 4.4 4.4; o 40 41 4.4 4.4; o 60 41 4.4 4.4; o 78 41 4.4 4.4; r 16 54
    84 90 3
orange/fur: r 22 60 78 84 2
silver: r 18 49 82 51.5
red/metal: r 18 12 44 28 3
grey/metal: r 56 8 80 28 3

= apple
main/glaze: s 50 22 34 12 12 20 6 48 20 82 38 96 50 92 62 96 80 82 94 48 88 20 66 12
wood: l 4 2.4 50 26 52 10 58 -2
green/leaves: s 54 10 68 -6 88 -4 76 12
light: o 26 40 7 12 24

= pear
main/glaze: s 50 6 38 12 36 34 16 56 14 82 34 98 66 98 86 82 84 56 64 34 62 12
wood: l 3.6 2.4 50 10 52 -10
green/leaves: s 52 -2 66 -14 82 -10 68 2
light: o 30 66 7 12 20

= orange
main/scales: o 50 54 44 43
green/leaves: s 50 14 62 -4 84 -2 72 14; o 50 15 4 3
light: o 34 38 9 7 -30

= lemon
main/scales: s 0 56 10 44 26 26 54 20 80 34 92 48 104 54 92 66 78 82 50 90 24 82 10 66
light: o 40 40 13 6 -18
green/leaves: s 92 48 96 26 112 22 106 40

= banana
main: s 10 20 18 18 28 48 50 66 84 72 96 68 98 76 80 92 46 90 18 64
dark: s 12 20 20 46 44 74 92 74 80 88 46 84 20 60
main: s 12 18 22 16 32 44 54 60 92 68 70 74 40 68 20 44
brown: p 8 12 20 10 20 22 10 24; o 97 72 4 5

= strawberry
main: s 50 18 24 14 8 32 18 64 50 100 82 64 92 32 76 14
yellow: o 28 34 1.6 2.4; o 44 32 1.6 2.4; o 60 32 1.6 2.4; o 74 36 1.6 2.4; o 34 50 1.6 2.4; o
    50 50 1.6 2.4; o 66 50 1.6 2.4; o 42 66 1.6 2.4; o 58 66 1.6 2.4; o 50 82 1.6 2.4
green/leaves: s 50 20 26 28 18 12 36 10 44 0 50 8 56 0 64 10 82 12 74 28; l 3 2 50 10 54 -6

= pineapple
green/leaves: s 50 36 34 8 24 -6 42 8 44 -20 50 -2 58 -20 58 8 76 -6 66 8; s 46 38 22 22 16 12
    36 20; s 54 38 78 22 84 12 64 20
main/lattice: s 50 30 28 36 22 64 32 94 50 100 68 94 78 64 72 36

= grapes
green/leaves: s 50 18 24 22 14 4 36 -4 54 6 76 -4 66 16; l 3 2 50 16 56 -10
main/glaze: o 30 30 11 11; o 50 28 11 11; o 70 30 11 11; o 24 46 11 11; o 40 44 11 11; o 60 44
    11 11; o 76 46 11 11; o 34 60 11 11; o 50 59 11 11; o 66 60 11 11; o 42 75 11 11; o 58 75 11
    11; o 50 90 11 11
light: o 27 27 3 3; o 47 25 3 3; o 37 41 3 3; o 57 41 3 3; o 47 56 3 3; o 63 57 3 3; o 39 72 3 3

= watermelon
green/stripes: s 0 44 8 78 36 100 64 100 92 78 100 44
light: s 5 44 13 74 38 93 62 93 87 74 95 44
red/fur: s 9 43 17 70 40 88 60 88 83 70 91 43
black: o 24 56 1.8 3; o 40 54 1.8 3; o 56 54 1.8 3; o 74 56 1.8 3; o 34 68 1.8 3; o 50 70 1.8 3;
    o 64 68 1.8 3; o 50 82 1.8 3

= carrot
green/needles: l 5 1 50 26 34 4 30 -20; l 5 1 50 26 50 0 50 -26; l 5 1 50 26 64 4 72 -20
main: s 50 24 34 28 32 44 46 92 50 102 54 92 68 44 66 28
dark: l 1.4 1 36 40 48 42; l 1.4 1 64 52 54 54; l 1.4 1 42 64 50 66

= pumpkin
green/wood: l 7 4 50 24 52 8 62 0
main/glaze: o 20 62 20 32; o 80 62 20 32; o 34 60 20 36; o 66 60 20 36; o 50 60 17 38
dark: l 1.6 1.6 50 24 39 60 48 96; l 1.6 1.6 50 24 61 60 54 96; l 1.6 1.6 40 26 20 60 30 92; l
    1.6 1.6 60 26 80 60 70 92

= corn
main/lattice: s 50 0 38 10 34 40 38 86 50 98 62 86 66 40 62 10
green/leaves: s 46 104 24 84 22 40 34 56 44 84; s 54 104 76 84 80 34 66 56 56 84

= broccoli
leaf/skin: l 20 14 50 60 50 98; l 10 9 50 80 28 54; l 10 9 50 80 72 54
main/wool: o 24 42 20 17; o 50 26 26 20; o 76 42 20 17; o 38 50 17 14; o 62 50 17 14

= bread
main/skin: s 0 70 4 44 24 34 76 34 96 44 100 70 94 92 6 92
cream: l 2.4 2.4 22 40 30 60; l 2.4 2.4 42 38 50 60; l 2.4 2.4 62 38 70 60; l 2.4 2.4 80 42 86
    60

= cake
white/glaze: o 50 94 56 7
main/glaze: r 10 52 90 92 4; r 24 24 76 54 4
cream/glaze: s 10 58 10 46 90 46 90 58 82 68 74 58 64 68 54 58 44 68 34 58 24 68; s 24 30 24 20
    76 20 76 30 68 40 60 30 50 40 40 30 32 40
red: o 24 46 5 5; o 76 46 5 5
blue: l 3 3 40 20 40 4
pink: l 3 3 50 20 50 2
green: l 3 3 60 20 60 4
yellow: o 40 0 2.4 4; o 50 -2 2.4 4; o 60 0 2.4 4

= pizza
bread/fur: o 50 60 52 40
red/fur: o 50 59 46 35
main/patches: o 50 59 43 32
red: o 34 48 8 6; o 62 44 8 6; o 72 64 8 6; o 48 66 8 6; o 28 68 8 6; o 56 82 8 6
green/leaves: o 48 52 4 2.4; o 40 80 4 2.4 30; o 78 52 4 2.4; o 20 56 4 2.4 50

= burger
main/glaze: s 4 46 10 22 34 8 66 8 90 22 96 46
cream: o 34 20 2.4 1.4; o 50 16 2.4 1.4; o 64 22 2.4 1.4; o 44 28 2.4 1.4; o 76 30 2.4 1.4; o 24
    32 2.4 1.4
green/leaves: s 0 50 14 44 86 44 100 50 86 58 70 52 56 60 42 52 28 60 14 54
red: r 6 54 94 61 3
coffee/wool: r 4 60 96 76 6
yellow: p 8 60 92 60 76 64 70 74 62 63 20 62
main/glaze: s 4 76 96 76 92 94 80 98 20 98 8 94

= icecream
straw/lattice: p 28 48 72 48 50 106
pink/wool: o 34 38 20 18
main/wool: o 66 38 20 18
cream/wool: o 50 18 21 19
red: o 54 -4 6 6

= cheese
main: p 2 58 62 26 100 52 100 56
main/fur: p 2 58 100 55 100 94 2 96
dark: o 26 76 8 7; o 54 68 6 5; o 74 82 8 7; o 90 66 4 4; o 44 88 4 3; o 62 42 6 3

= egg
wood/wool: s 2 66 98 66 86 96 14 96
main/glaze: o 30 56 15 20 -8; o 52 52 15 20; o 73 57 15 20 8
straw/wool: s -2 64 102 64 90 98 10 98

= sofa
wood: r 8 92 14 100; r 86 92 92 100
dark/cloth: r 8 30 92 72 8
main/cloth: r 14 34 49 66 6; r 51 34 86 66 6; r 12 60 88 80 5; r 4 74 96 94 4; r -4 48 14 94 7;
    r 86 48 104 94 7
light/cloth: r 18 44 34 62 3

= armchair
wood: l 4 4 18 90 14 100; l 4 4 82 90 86 100
main/cloth: s 14 78 16 20 34 6 66 6 84 20 86 78
dark/cloth: r 24 58 76 78 6
main/cloth: r 18 72 82 92 3; s 0 92 2 50 14 46 24 54 24 92; s 100 92 98 50 86 46 76 54 76 92
deep: o 40 26 1.6 1.6; o 60 26 1.6 1.6; o 50 40 1.6 1.6

= chair
main/wood: r 22 0 28 100; r 66 56 72 100; r 26 4 34 10; l 4 4 74 56 80 100; l 4 4 28 56 20 100;
    r 22 2 72 12 2; r 22 22 72 30 2; r 66 0 72 58
light/cloth: s 16 58 22 50 76 50 84 58 78 64 20 64

= table
main/wood: r 10 44 16 100; r 84 44 90 100; r 22 50 26 92; r 74 50 78 92; p 0 44 10 34 90 34 100
    44; r 0 43 100 50
white/glaze: s 42 36 58 36 54 26 58 20 42 20 46 26
red: o 44 14 5 5; o 56 14 5 5
pink: o 50 8 5 5

= bed
wood/wood: r 0 18 8 100 2; r 92 44 100 100 2; r 4 70 96 86
white/cloth: r 8 56 92 74 4; s 10 58 12 42 34 42 36 58
main/cloth: s 32 58 40 52 92 54 94 84 34 86
dark/cloth: l 4 4 36 58 38 84

= lamp
gold/metal: r 47 40 53 92; o 50 94 24 6
main/cloth: p 34 4 66 4 86 50 14 50
light: p 40 8 52 8 56 46 34 46

= clock
main/wood: o 50 50 50 50
cream: o 50 50 41 41
black: r 48.5 12 51.5 20; r 48.5 80 51.5 88; r 12 48.5 20 51.5; r 80 48.5 88 51.5; l 2 1 50 50
    50 20; l 3 2 50 50 70 60; o 50 50 3.4 3.4; o 69 17 1.4 1.4; o 83 31 1.4 1.4; o 83 69 1.4
    1.4; o 69 83 1.4 1.4; o 31 17 1.4 1.4; o 17 31 1.4 1.4; o 17 69 1.4 1.4; o 31 83 1.4 1.4

= television
grey: l 2 2 50 22 30 0; l 2 2 50 22 70 0
main/wood: r 0 20 100 90 6; r 14 88 20 100; r 80 88 86 100
black: r 6 27 76 83 8
glass: r 9 30 73 80 8
light: p 14 36 34 34 18 66
gold: o 87 38 5 5; o 87 54 5 5
black: l 1 1 82 68 92 68; l 1 1 82 74 92 74

= laptop
main/metal: r 16 16 84 70 3
glass: r 20 20 80 65
white: r 26 26 50 29; r 26 33 62 36; r 26 40 56 43
green: r 60 46 74 60
main/metal: p 12 71 88 71 104 92 -4 92
black/lattice: p 18 74 82 74 91 85 9 85
dark: p 40 86 60 86 62 91 38 91

= bookshelf
main/wood: r 6 0 94 100 2
deep/wood: r 12 5 88 33; r 12 38 88 65; r 12 70 88 96
red: r 14 10 21 33; r 60 42 68 65; r 34 76 41 96
blue: r 22 7 29 33; r 28 40 34 65; r 70 74 78 96
green: r 30 12 37 33; r 14 44 20 65; r 26 72 33 96
yellow: r 38 9 44 33; r 36 43 43 65; r 52 75 59 96
white: r 46 11 54 33; r 44 41 50 65; r 14 74 24 96
purple: r 56 8 62 33; r 70 41 76 65
orange: r 64 12 72 33; r 21 41 27 65; r 42 73 50 96; r 78 44 86 65

= books
red/cloth: r 6 78 94 98 2
cream: r 90 81 95 95
main/cloth: r 14 58 86 78 2
cream: r 82 61 87 75
green/cloth: r 4 40 80 58 2
cream: r 76 43 81 55
gold: r 12 84 40 87; r 20 64 44 67; r 12 46 36 49

= vase
main/glaze: s 36 2 64 2 58 20 84 50 76 86 62 98 38 98 24 86 16 50 42 20
dark: o 50 3 14 3
light: l 4 2 30 48 28 70
dark/scales: s 18 50 82 50 82 60 18 60

= piano
main/wood: r 2 20 98 66 2; p 0 62 100 62 104 72 -4 72; r 4 72 12 100; r 88 72 96 100
white: r 2 64 98 71
black: r 8 64 11 68; r 14 64 17 68; r 26 64 29 68; r 32 64 35 68; r 38 64 41 68; r 50 64 53 68;
    r 56 64 59 68; r 68 64 71 68; r 74 64 77 68; r 80 64 83 68
cream: p 34 24 66 24 70 46 30 46
black: l 0.8 0.8 38 30 62 30; l 0.8 0.8 37 35 63 35; l 0.8 0.8 36 40 64 40
gold: r 40 86 44 100; r 50 86 54 100

= guitar
wood/wood: r 46 -28 54 40; r 43 -44 57 -26 2
main/wood: s 50 34 34 36 30 48 36 60 24 74 28 96 50 104 72 96 76 74 64 60 70 48 66 36
black: o 50 62 9 9
deep: r 38 84 62 88
silver: l 0.6 0.6 48 -30 48 86; l 0.6 0.6 50 -30 50 86; l 0.6 0.6 52 -30 52 86
gold: o 41 -40 2 2; o 41 -33 2 2; o 59 -40 2 2; o 59 -33 2 2

= violin
black: r 47 -30 53 50; l 5 3 50 -30 50 -40 55 -42
main/wood: s 50 32 36 36 34 50 42 58 40 66 30 76 32 96 50 102 68 96 70 76 60 66 58 58 66 50 64
    36
black: s 44 34 56 34 53 66 47 66; l 1.4 1.4 40 66 42 72 40 78; l 1.4 1.4 60 66 58 72 60 78; s 46
    84 54 84 52 100 48 100
brown: l 1.6 1.6 80 -30 86 98
cream: l 1 1 83 -28 89 96

= drum
main/cloth: r 4 40 96 88; o 50 88 46 10
gold: r 4 38 96 44; o 50 90 46 8
main/cloth: r 6 60 94 86
cream: l 1.6 1.6 6 46 22 86 38 46 54 86 70 46 86 86 94 60
white/cloth: o 50 40 46 11
gold: o 50 40 46 2
wood/wood: l 4 3 30 36 2 2; l 4 3 60 38 92 4
wood: o 2 2 4 4; o 92 4 4 4

= teddy
main/wool: o 28 12 11 11; o 72 12 11 11; l 20 16 30 54 8 62; l 20 16 70 54 92 62; o 50 66 27 27;
    o 26 90 15 12; o 74 90 15 12; o 50 28 27 24
light/wool: o 50 36 12 9; o 50 68 16 17; o 28 12 6 6; o 72 12 6 6; o 24 92 7 6; o 76 92 7 6
black: o 40 24 3 3.4; o 60 24 3 3.4; o 50 32 4.4 3
red/cloth: s 50 53 34 46 34 60; s 50 53 66 46 66 60; o 50 53 4 4

= ball
main/glaze: o 50 50 50 50
white: s 50 0 34 20 34 80 50 100 20 88 6 50 20 12; s 50 0 66 20 66 80 50 100 80 88 94 50 80 12
main/glaze: s 50 0 30 16 24 50 30 84 50 100 12 84 2 50 12 16
yellow: s 50 2 60 24 60 76 50 98 40 76 40 24

= football
white/skin: o 50 50 50 50
black: p 50 34 66 46 60 64 40 64 34 46; p 50 0 66 6 56 16 44 16 34 6; p 96 36 99 54 88 56 84 42;
    p 4 36 1 54 12 56 16 42; p 78 90 62 98 66 84 76 78; p 22 90 38 98 34 84 24 78
grey: l 1 1 50 16 50 34; l 1 1 84 46 66 46; l 1 1 16 46 34 46; l 1 1 60 64 68 82; l 1 1 40 64 32
    82

= kite
main/cloth: p 50 0 82 36 50 84 18 36
light/cloth: p 50 0 82 36 50 36; p 50 84 18 36 50 36
wood: l 1 1 50 0 50 84; l 1 1 18 36 82 36
grey: l 0.8 0.8 50 84 42 96 54 106 44 118
red: p 42 96 34 90 36 102; p 42 96 50 92 50 102; p 52 106 44 102 46 112; p 52 106 60 102 60 112

= umbrella
wood: l 3 3 50 40 50 94; l 3 3 50 94 54 101 62 98 62 92
main/cloth: s 0 50 6 22 30 4 50 0 70 4 94 22 100 50 88 44 75 50 62 44 50 50 38 44 25 50 12 44
dark/cloth: s 38 44 40 20 50 0 60 20 62 44 50 50
grey: l 2 1 50 2 50 -6

= backpack
main/cloth: l 5 5 40 10 42 -2 58 -2 60 10; s 14 30 24 8 50 4 76 8 86 30 88 96 12 96; r 2 58 16
    92 5; r 84 58 98 92 5
dark/cloth: r 24 54 76 90 6; s 16 34 26 12 74 12 84 34 76 40 24 40
gold: r 46 38 54 50 1; r 30 64 70 66

= globe
gold/metal: o 50 40 44 44
blue/glaze: o 50 40 39 39
green/leaves: s 30 12 48 10 50 26 38 34 36 48 26 40 20 24; s 54 30 72 26 82 44 70 64 60 58 62 46
    52 42; s 34 60 44 58 46 72 38 70
wood/wood: r 46 82 54 92; o 50 95 26 6

= pencils
red: r 26 2 34 50; p 26 2 30 -10 34 2
yellow: r 37 -8 45 50; p 37 -8 41 -20 45 -8
green: r 48 4 56 50; p 48 4 52 -8 56 4
blue: r 59 -4 67 50; p 59 -4 63 -16 67 -4
main/glaze: p 18 36 78 36 74 98 22 98
dark: o 48 37 30 5

= scissors
silver/metal: p 48 56 72 -4 76 2 54 60; p 52 56 28 -4 24 2 46 60
main: o 34 80 15 18 20; o 66 80 15 18 -20
light: o 34 81 8.6 11 20; o 66 81 8.6 11 -20
grey: o 50 52 3 3

= candle
gold/metal: o 50 96 36 6; r 40 84 60 94
main: r 38 34 62 86 2
light: s 38 36 62 36 62 48 56 42 50 54 44 42
black: l 1.6 1.4 50 34 50 24
orange: s 50 -4 40 16 44 28 50 30 56 28 60 16
yellow: s 50 6 45 18 50 27 55 18

= bathtub
gold: l 3 3 92 44 92 20 80 18 80 26; o 12 94 6 6; o 88 94 6 6
main/glaze: s 0 46 100 46 96 74 82 92 18 92 4 74
white/wool: o 20 42 10 9; o 34 38 12 10; o 50 40 11 9; o 66 38 12 10; o 80 42 9 8
light/glaze: r -3 44 103 51 3
yellow: o 50 30 9 7; o 56 22 6 6
orange: s 60 22 67 24 60 26

= wateringcan
main/metal: l 5 5 24 50 4 36 6 16 40 22 56 42; l 7 5 68 80 88 54 98 38
main/metal: p 90 28 106 42 100 46 86 34; r 22 42 72 96 4
dark: o 47 43 25 5; r 22 60 72 63
light: l 3 3 29 68 29 90

= wheelbarrow
black/fur: o 14 86 13 13
silver: o 14 86 7 7
wood/wood: l 4 4 14 86 60 70 106 58; l 4 4 66 74 70 98
main/metal: p 8 46 88 46 72 76 30 78
bark/wool: s 12 46 30 30 50 28 72 34 84 46
green/leaves: s 30 34 24 16 34 20 38 32; s 56 32 58 12 66 18 64 34

= bench
black/metal: l 4 4 16 40 12 100; l 4 4 84 40 88 100; l 4 4 14 72 30 72 32 100; l 4 4 86 72 70 72
    68 100
main/wood: r 6 26 94 34 2; r 6 38 94 46 2; r 6 50 94 58 2; p 2 66 98 66 102 74 -2 74

= streetlamp
black/metal: r 47 26 53 96; p 40 100 43 90 57 90 60 100; r 40 24 60 27; p 38 2 50 -10 62 2
main: p 39 2 61 2 58 24 42 24
black: l 1 1 50 2 50 24; l 2 2 40 36 60 36

= trafficlight
grey/metal: r 46 72 54 110
black/metal: r 30 0 70 76 6
red/glaze: o 50 15 10 10
yellow/glaze: o 50 38 10 10
green/glaze: o 50 61 10 10
black: l 2 2 38 8 62 8; l 2 2 38 31 62 31; l 2 2 38 54 62 54

= mailbox
wood/wood: r 44 56 54 104
main/metal: s 10 60 10 26 22 14 78 14 90 26 90 60
dark/metal: s 10 60 10 26 20 15 32 26 32 60
white: r 15 36 27 40
red: r 66 0 69 30; r 66 -2 82 10

= hydrant
main/metal: r 26 88 74 98 2; r 32 34 68 90; s 30 34 34 16 50 8 66 16 70 34; r 28 30 72 38 2; r
    18 48 32 64 2; r 68 48 82 64 2; r 44 2 56 12 2
silver/metal: o 50 58 11 11
dark: o 50 58 6 6; r 14 50 19 62; r 81 50 86 62

= sign
grey/metal: r 46 60 54 120
white: p 30 -2 70 -2 98 26 98 64 70 92 30 92 2 64 2 26
main: p 32 2 68 2 94 28 94 62 68 88 32 88 6 62 6 28
white: r 18 36 32 54; r 36 36 48 54; r 52 36 66 54; r 70 36 82 54

= planet
gold/wood: o 50 52 78 18 -16
main/waves: o 50 50 40 40
gold/wood: s -22 72 10 74 60 62 110 40 124 32 116 48 64 70 0 82

= moon
main/spots: o 50 50 50 50
dark: o 34 34 10 9; o 66 60 13 11; o 36 72 7 6; o 66 26 6 5
light: o 35 36 7 6; o 67 62 10 8

= satellite
blue/lattice: r -40 34 24 66; r 76 34 140 66
grey: r 24 48 76 52
main/metal: r 36 20 64 82 3
silver/metal: s 34 16 50 4 66 16 50 24
red: o 50 92 4 4
grey: l 2 2 50 82 50 92; l 2 2 50 8 50 -8

= ufo
yellow: p 30 70 70 70 96 118 4 118
glass: s 26 48 30 22 50 12 70 22 74 48
green: o 50 36 9 11; l 2 2 46 26 42 18; l 2 2 54 26 58 18
black: o 46 35 2 3.4; o 54 35 2 3.4
main/metal: s -8 58 16 44 84 44 108 58 84 74 16 74
yellow: o 6 59 4 3; o 28 64 4 3; o 50 66 4 3; o 72 64 4 3; o 94 59 4 3

= rover
blue/lattice: p 20 28 84 28 92 36 12 36
grey: r 48 34 54 50; l 3 3 84 48 88 12; l 2 2 18 78 50 60 86 78
main/metal: r 16 48 90 68 2
silver/metal: r 80 6 98 16 2
black/fur: o 16 86 13 13; o 52 86 13 13; o 88 86 13 13
grey: o 16 86 5 5; o 52 86 5 5; o 88 86 5 5

= sledge
main/wood: r 10 60 90 68 2; r 22 68 27 88; r 70 68 75 88
red: l 4 4 0 92 84 92 100 84 96 66
straw: l 1.4 1.4 90 64 112 50 126 56

= bucket
grey: l 2 2 14 36 30 2 70 2 86 36
main/glaze: p 12 36 88 36 78 98 22 98
dark: o 50 36 38 8
sand/fur: s 16 36 34 18 56 16 84 36 50 42
red: l 4 4 62 32 78 -10; l 8 8 76 -10 84 -12

= shell
main/stripes: s 50 98 36 92 4 58 4 30 22 10 50 2 78 10 96 30 96 58 64 92
dark: l 1.4 1.4 50 94 16 34; l 1.4 1.4 50 94 36 12; l 1.4 1.4 50 94 64 12; l 1.4 1.4 50 94 84 34
main: r 36 90 64 100 2

= surfboard
main/glaze: s 50 -30 34 -4 30 40 38 94 62 94 70 40 66 -4
white: s 50 -28 46 0 46 94 54 94 54 0
dark: l 6 6 34 62 66 62

= haystack
main/needles: s 2 100 6 60 24 28 50 12 76 28 94 60 98 100
dark/needles: l 1.4 1 30 36 22 70; l 1.4 1 54 30 58 66; l 1.4 1 74 44 80 84; l 1.4 1 40 60 36 92

= scarecrow
wood/wood: l 4 4 50 40 50 104; l 4 4 8 50 92 50
straw/needles: l 7 3 14 50 0 54; l 7 3 86 50 100 54; o 50 22 13 13
main/patches: p 20 44 80 44 84 56 64 56 66 88 34 88 36 56 16 56
brown/cloth: s 26 14 40 10 44 -10 58 -8 62 10 74 14 50 20
black: o 45 21 1.8 1.8; o 55 21 1.8 1.8; l 1 1 44 28 50 30 56 28
orange: p 50 22 54 27 48 27

= campfire
bark/wood: l 8 8 14 96 86 78; l 8 8 86 96 14 78
red/fur: s 50 0 34 26 20 54 26 82 50 90 74 82 80 54 66 30 60 40
main/fur: s 50 22 38 46 32 70 50 88 68 70 60 50 54 56
yellow/fur: s 50 48 42 66 44 82 50 86 58 80 56 66
"""
