"""WorkBench: byte copies from its repository, the 2026 tasks row by row."""

from __future__ import annotations

from relaybench.benchmarks.pins import FirstSeen, Rows, Sha256
from relaybench.benchmarks.sources.base import Source, SourceFile

_WORKBENCH = "https://raw.githubusercontent.com/olly-styles/WorkBench"
_2024 = "42f1b6dc18986f47701ca83de2d63dd4f95c59a0"
_2026 = "5b76dee7593b49b4ccc81c4fd29a43b3250ee721"

_WORKBENCH_V2_ROWS = """
    d0a91b9c6cec 401285849a1c e11014304de0 c05bbe584ddb b0e8bd05f696 243027aa5b03 9af58c4a50aa 3034a8870728 53510e2eb1a2
    46d8b82da021 d1ad8f2a6035 932102672675 0d3bf929fe73 543233e4ab59 bd237d6b7004 eec840a6c0ae 1d63a15290ff c6f01321b635
    4d954bee63bc 97c851860caf b1b2caceed1e 39972d8aeb9e e7207b22f62f 2ce38d1d699f 03d8f05161b3 9dbfdf9b2099 7d410417da4f
    df0574749cdf 2cfff34b7a75 263dd6fa4022 70a0f9272925 e0fb9ee0b8b0 403c68aff050 93c0e2e55d5a 24835e730d46 6cf4583a7958
    787d025dc465 a12e3d50fc76 31101cc205d0 0368a00fa67d aabb1ce8b1ee eb9533ead61f 593bbbd708c1 a3e44218e8fc 0cb7274c9f56
    ae02c7690523 952b2b96c492 0cfc84a11b27 ad863597d400 47f4095e5dac e385aff84e46 68aeebb9b579 0efc7018c9d5 6c8b96c28fb4
    dcc483c2ed02 03303aa6a905 cfb016e804ed 464ee89ee788 95c95c1c8906 014476f85b88 6514167ec6d4 732c518bfdb0 4a2430df6ce8
    3ee36eb49f76 ac1734400df2 7f79e77ad1be 4832f07db63b c7f8038a9e6e 9f2016c3b61b e8615a426363 df8588067ddd c43d37d93002
    792338e7e3fa cb09c3e9e08a 5b8680b04307 c1b4496fc61e a30629e33472 306ef1c22e4e 5d7a9e04e0f9 3c3b8a47e1b6 477c32ee5e12
    2850f2c13fe9 97859f9e0e14 e775f1cfd46e 4f08cb5e09fd 19d8ed2b485e 0e0b5513e8db 0880604b7191 e2b34f791ff3 bb6fad1b582a
    16bfb321e9f9 d817323ef659 14ac1b73ea47 52a1dd625686 2c028d2af6e3 54ee50713ba6 c473a7c78d1d dc05a2fbcc82 7d4fb366f758
    b30dffb73ffe 313e1035841b e63ba92b12b1 6b2a4ebb6e52 a995f32253f5 eeed206ee1f4 edf8b2fccbdd a610a9fcca8f 0a00aefc5f6c
    7773ad6bad1f 7fe5dfd92fb8 ad83e5ae197e 6b0c664c2f3e 3e398fe4e538 328ed2342662 49952a27228c deabb8d65783 dfeca0bf3b6b
    118142ff30a3 6847d6bd50f2 df08694c01de 1eb4bd706b87 51673118dd7f 54150807658f c0ec0f4a78dc 3a95bbaf3154 34aed4638d05
    d2cdec95f75c 5d79e981fd63 e4b4c4bc8d31 e2d0ae02f37c 44cbbe0083a1 d4c8d06642d7 dcacec948f3b 725eb1214f7e 6417f104764a
    ae2af877de41 045719a79213 50bca44efe27 40c1ac22cafb efcdc126e439 7b032d8c4d97 91223bca5427 0d5de75355a7 4b6f56830637
    a212c762e61f 102f872af664 e0eced4f4514 96e4e09f4841 b2b6775ec2d9 93f4908afd3f 94adae3163d1 5cba7fda9675 ac1c6a229b61
    4c655ee13bee f977a6ec137e 8ffe9c0691d1 83250950469b bf7d5ae87991 00fffc504cd1 1cefba3c5bb6 28888a2b8a89 50fe8c54cf28
    39cecb056e7b cd9b4dbce1ae 7aedd5f81149 1771a4b89856 c248f5348c80 df6be6791e34 8b8c235feb61 12cdf8e96fe3 b9f2f4a094c5
    832eefe84371 43d71c2463a6 c11415229c6c 3310ce5b0cf5 dc130c1819e7 a8ab5a6aa28d 5564b3e1cd48 f1d5a6cb5d6a 5aace22bc676
    ab10593ae7dd 3063cecf58b1 0c8ffe94d7c2 b82560adb519 4423e34f18e8 92ffd1794f48 2edf4761e1aa 68ee90832608 02ab607e6371
    9660ab64cca3 74a4b603d061 714940246f11 e85ea6bcb763 15c61d770d1f 91a751c70c6d 51c733928098 7afdb64e2c81 8fa7e7ad6151
    4c80f874ea42 b16d0081fcb8 3806c78ed1a4 a24beb23357a 088b8a0ca29c 853fcc2c417e edfc4479f434 e5a45c84b646 fda2e02f5b73
    72c1d3bd5953 2dc92eee6aca 4dac124ab78e
"""

_WORKBENCH_FILES = (
    SourceFile(
        "sandbox/analytics_data.csv",
        f"{_WORKBENCH}/{_2024}/data/processed/analytics_data.csv",
        36031,
        Sha256("9f02ac1311812721fa4d521aaf91e2d3a4320d1409cfd5b43f130ee476cae709"),
    ),
    SourceFile(
        "sandbox/calendar_events.csv",
        f"{_WORKBENCH}/{_2024}/data/processed/calendar_events.csv",
        23620,
        Sha256("9f029b17eb05e6b837946b50f15b63e59c939a544ba293075d98ac301554d636"),
    ),
    SourceFile(
        "sandbox/customer_relationship_manager_data.csv",
        f"{_WORKBENCH}/{_2024}/data/processed/customer_relationship_manager_data.csv",
        32370,
        Sha256("8632a748512e2c4e1ad7ffa6669efb1ce73bcfe9600f976a99af6e6c46e79297"),
    ),
    SourceFile(
        "sandbox/emails.csv",
        f"{_WORKBENCH}/{_2024}/data/processed/emails.csv",
        163261,
        Sha256("35c0a3af40acddc9aa48d0289e75cc44785e33abedfa3e48ca3f7b2fb679f4c3"),
    ),
    SourceFile(
        "sandbox/project_tasks.csv",
        f"{_WORKBENCH}/{_2024}/data/processed/project_tasks.csv",
        28504,
        Sha256("ef4941767aa7ec5c85f481d90d9fc9aef9f7424d972701d2149e0ef55e56b07d"),
    ),
    SourceFile(
        "raw/email_addresses.csv",
        f"{_WORKBENCH}/{_2024}/data/raw/email_addresses.csv",
        450,
        Sha256("d9227ee1a072e528c3735afea166a56e5d2e88f4c98dc7a0beba035ff0efcc2a"),
    ),
    SourceFile(
        "queries/analytics_queries_and_answers.csv",
        f"{_WORKBENCH}/{_2024}/data/processed/queries_and_answers/analytics_queries_and_answers.csv",
        62941,
        Sha256("aa45a14f2edac0bc8ed6cefd14d21ce677e5ad7fceb584ed8eff3ed61c4859bd"),
    ),
    SourceFile(
        "queries/calendar_queries_and_answers.csv",
        f"{_WORKBENCH}/{_2024}/data/processed/queries_and_answers/calendar_queries_and_answers.csv",
        37359,
        Sha256("fefb61e1a78bc2042befdb5703287a398aa4d8e8749bbf8badce8e6dd3ee9185"),
    ),
    SourceFile(
        "queries/customer_relationship_manager_queries_and_answers.csv",
        f"{_WORKBENCH}/{_2024}/data/processed/queries_and_answers/customer_relationship_manager_queries_and_answers.csv",
        48133,
        Sha256("20e34dffd61654b0302991a8222b13408a622de86d5d5fac10b7c4ffe5f45a76"),
    ),
    SourceFile(
        "queries/email_queries_and_answers.csv",
        f"{_WORKBENCH}/{_2024}/data/processed/queries_and_answers/email_queries_and_answers.csv",
        37039,
        Sha256("f260be0ab34983675dbee1c313662e3882464198ac9146e1fa86b1920aa93b86"),
    ),
    SourceFile(
        "queries/multi_domain_queries_and_answers.csv",
        f"{_WORKBENCH}/{_2024}/data/processed/queries_and_answers/multi_domain_queries_and_answers.csv",
        227530,
        Sha256("d04c2bf8c2c286d7fd26336f4d7deeca0ba402b28ed32e888e5c7796f1e50618"),
    ),
    SourceFile(
        "queries/project_management_queries_and_answers.csv",
        f"{_WORKBENCH}/{_2024}/data/processed/queries_and_answers/project_management_queries_and_answers.csv",
        34255,
        Sha256("01fe40615b65836e0c2a4ecd21e96b33b5e2ffad70f40f43c72081c37adb8945"),
    ),
    SourceFile(
        "multi_domain_tasks_and_outcomes_v2.csv",
        f"{_WORKBENCH}/{_2026}/data/processed/tasks_and_outcomes/multi_domain_tasks_and_outcomes.csv",
        228210,
        Rows(("task", "outcome"), tuple(_WORKBENCH_V2_ROWS.split())),
    ),
    SourceFile("LICENSE.WorkBench", f"{_WORKBENCH}/{_2024}/LICENSE", 1064, FirstSeen()),
)

WORKBENCH = Source(
    "workbench",
    "WorkBench (Styles et al. 2024): 690 office tasks, v1 and v2 ground truth",
    "MIT",
    _WORKBENCH_FILES,
)
