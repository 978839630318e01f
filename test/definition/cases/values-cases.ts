import type { Case } from './case.ts'

/** Variables with known values. */
export const valuesCases: readonly Case[] = [
  {
    name: 'operationIds that are not names, reserved or equal',
    files: {
      'waypost.yml': `routes:
  /a:
    scopes: [a]
    methods:
      GET: { action: src/a.ts, operationId: listTickets }
      POST: { action: src/a.ts, operationId: list_tickets }
      PUT: { action: src/a.ts, operationId: delete }
      PATCH: { action: src/a.ts, operationId: 2fast }
`,
      'src/a.ts': '',
    },
    problems: [
      'waypost.yml:6:46 «list_tickets» WP_DEFINITION_OPERATION_DUPLICATE The operationId "list_tickets" is the same as "listTickets" at waypost.yml:5 | Give each method its own operationId. Case and "_" are ignored, because generated clients may change them',
      'waypost.yml:7:45 «delete» WP_DEFINITION_VALUE_INVALID "delete" is a reserved word in programming languages, so it cannot be an operationId | Begin with a verb and add its object, for example listTodos',
      'waypost.yml:8:47 «2fast» WP_DEFINITION_VALUE_INVALID "operationId" must be a name of letters, digits and _, not "2fast"',
    ],
  },
  {
    name: 'caching of other methods than GET, by others than the caller, and for odd durations',
    files: {
      'waypost.yml': `routes:
  /a:
    scopes: [a]
    methods:
      GET: { action: src/a.ts, cache: { max_age: 60s, public: true } }
      POST: { action: src/a.ts, cache: { max_age: 60s } }
  /b: { methods: { GET: { public: true, action: src/a.ts, cache: { max_age: 1500ms } } } }
  /c: { methods: { GET: { public: true, action: src/a.ts, cache: { max_age: 60 } } } }
  /d: { methods: { GET: { public: true, action: src/a.ts, cache: { public: true } } } }
  /e: { methods: { GET: { public: true, action: src/a.ts, cache: { max_age: 0s, public: true } } } }
  /f: { methods: { GET: { public: true, action: src/a.ts, cache: { max_age: 366d } } } }
`,
      'src/a.ts': '',
    },
    problems: [
      'waypost.yml:5:63 «true» WP_DEFINITION_VALUE_INVALID "public: true" would allow shared caches to store responses of a method that requires a token | Remove it: then only the cache of the caller stores the response',
      'waypost.yml:6:33 «cache» WP_DEFINITION_VALUE_INVALID "cache" applies to GET only, not to POST',
      'waypost.yml:7:77 «1500ms» WP_DEFINITION_VALUE_INVALID "max_age" must be whole seconds, at most 365d, not "1500ms"',
      'waypost.yml:8:77 «60» WP_DEFINITION_VALUE_INVALID "max_age" must be a duration such as 30s or 5m, not 60',
      'waypost.yml:9:59 «cache» WP_DEFINITION_KEY_MISSING "max_age" is missing, but required in a cache policy',
      'waypost.yml:11:77 «366d» WP_DEFINITION_VALUE_INVALID "max_age" must be whole seconds, at most 365d, not "366d"',
    ],
  },
  {
    name: 'a variable that is not set',
    files: { 'waypost.yml': 'connection:\n  Db:\n    class: sqlite\n    config: { file: "${env.DB_FILE}" }\n' },
    options: { variables: { OTHER: 'x' } },
    problems: [
      'waypost.yml:4:22 «${env.DB_FILE}» WP_DEFINITION_ENV_MISSING The variable "DB_FILE" is not set | Set DB_FILE in the environment, in .env or in System (env:set), or add a default: ${env.DB_FILE:-default}',
    ],
  },
  {
    name: 'a variable that is set to nothing',
    files: { 'waypost.yml': 'connection:\n  Db:\n    class: sqlite\n    config: { file: "a/${env.DB_FILE}/b" }\n' },
    options: { variables: { DB_FILE: '' } },
    problems: [
      'waypost.yml:4:24 «${env.DB_FILE}» WP_DEFINITION_ENV_MISSING The variable "DB_FILE" is not set | Set DB_FILE in the environment, in .env or in System (env:set), or add a default: ${env.DB_FILE:-default}',
    ],
  },
  {
    name: 'a declared default counts wherever its variable is used',
    files: {
      'waypost.yml':
        'env: { DB_FILE: { default: x.db }, DAYS: { type: integer, default: 3 } }\nconnection:\n  Db: { class: sqlite, config: { file: "a/${env.DB_FILE}" } }\nconfig: { refresh_lifetime: "${env.DAYS}d" }\n',
    },
    options: { variables: { DB_FILE: '' } },
    problems: [],
  },
  {
    name: 'a declared default of which a config cannot be made',
    files: {
      'waypost.yml':
        'env: { DB_FILE: { default: "a}b" } }\nconnection:\n  Db: { class: sqlite, config: { file: "${env.DB_FILE}" } }\n',
    },
    problems: [
      'waypost.yml:3:41 «${env.DB_FILE}» WP_DEFINITION_ENV_DEFAULT The default of "DB_FILE" cannot be used in a config: it contains a brace | Change the default under env:, or remove it and set DB_FILE on each server',
    ],
  },
  {
    name: 'a setting whose declared default has a wrong value',
    files: { 'waypost.yml': 'env: { TTL: { default: long } }\nconfig:\n  token_lifetime: ${env.TTL}\n' },
    problems: [
      'waypost.yml:3:19 «${env.TTL}» WP_DEFINITION_SETTING_INVALID "token_lifetime" must be a duration such as 30s, 10m or 1h, not "long"',
    ],
  },
  {
    name: 'a setting whose variable has a wrong value',
    files: { 'waypost.yml': 'config:\n  token_lifetime: ${env.TTL}\n' },
    options: { variables: { TTL: 'long' } },
    problems: [
      'waypost.yml:2:19 «${env.TTL}» WP_DEFINITION_SETTING_INVALID "token_lifetime" must be a duration such as 30s, 10m or 1h, not "long"',
    ],
  },
  {
    name: 'a schedule whose variable has a wrong value',
    files: { 'waypost.yml': 'cronjob:\n  j: { schedule: "0 ${env.HOUR} * * *", action: src/a.ts }\n' },
    options: { variables: { HOUR: '24' } },
    problems: [
      'waypost.yml:2:18 «"0 ${env.HOUR} * * *"» WP_DEFINITION_CRON_INVALID "24" is not a valid hour (0 to 23, *, 1-5, */2)',
    ],
  },
  {
    name: 'a schedule whose default is wrong',
    files: { 'waypost.yml': 'cronjob:\n  j: { schedule: "0 ${env.HOUR:-24} * * *", action: src/a.ts }\n' },
    problems: [
      'waypost.yml:2:18 «"0 ${env.HOUR:-24} * * *"» WP_DEFINITION_CRON_INVALID "24" is not a valid hour (0 to 23, *, 1-5, */2)',
    ],
  },
]
