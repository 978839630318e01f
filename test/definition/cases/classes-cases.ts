import type { Case } from './case.ts'

const secretHint = 'Write "${env.NAME}" instead, and set NAME in the environment or in .env'
const isSecret = (at: string, masked: number, key: string) =>
  `waypost.yml:${at} «${'*'.repeat(masked)}» warning WP_DEFINITION_SECRET_LITERAL The value of "${key}" contains a password or another secret, which every release would store | ${secretHint}`

const hidden = { writeOnly: true }
const withSecrets = {
  type: 'object',
  properties: {
    dsn: hidden,
    auth: {
      properties: {
        basic: { properties: { pin: hidden } },
        header: { items: { properties: { value: hidden } } },
        all: hidden,
      },
    },
  },
}

const classes = {
  connections: {
    sqlite: {
      config: {
        type: 'object',
        required: ['file'],
        additionalProperties: false,
        properties: { file: { type: 'string' }, pool: { type: 'integer', minimum: 1 }, mode: { enum: ['ro', 'rw'] } },
      },
    },
    broken: { config: { type: 'nonsense' } },
  },
  actions: { SqlSelect: { config: true } },
}

/** Plugin classes and their configs. */
export const classesCases: readonly Case[] = [
  {
    name: 'an unknown connection class',
    files: { 'waypost.yml': 'connection:\n  Db:\n    class: sqlit\n' },
    options: { classes },
    problems: [
      'waypost.yml:3:12 «sqlit» WP_DEFINITION_CLASS_UNKNOWN Unknown connection class "sqlit" | Did you mean "sqlite"?',
    ],
  },
  {
    name: 'an unknown connection class, near to none',
    files: { 'waypost.yml': 'connection:\n  Db:\n    class: mongodb\n' },
    options: { classes },
    problems: [
      'waypost.yml:3:12 «mongodb» WP_DEFINITION_CLASS_UNKNOWN Unknown connection class "mongodb" | Available: sqlite, broken',
    ],
  },
  {
    name: 'an integer in a config that may be rounded',
    files: { 'waypost.yml': 'connection:\n  Db: { class: sqlite, config: { file: a.db, pool: 9007199254740993 } }\n' },
    options: { classes },
    problems: [
      'waypost.yml:2:52 «9007199254740993» WP_DEFINITION_CLASS_CONFIG 9007199254740993 is beyond 2^53, where integers are rounded | Write it as a string',
    ],
  },
  {
    name: 'an unknown action class',
    files: { 'waypost.yml': 'action:\n  list: { class: SqlSelct }\n' },
    options: { classes },
    problems: [
      'waypost.yml:2:18 «SqlSelct» WP_DEFINITION_CLASS_UNKNOWN Unknown action class "SqlSelct" | Did you mean "SqlSelect"?',
    ],
  },
  {
    name: 'an unknown action class in place',
    files: { 'waypost.yml': 'routes:\n  /a: { methods: { GET: { public: true, action: { class: Nothing } } } }\n' },
    options: { classes: { connections: {}, actions: {} } },
    problems: [
      'waypost.yml:2:58 «Nothing» WP_DEFINITION_CLASS_UNKNOWN Unknown action class "Nothing" | Add the plugin that provides it under "plugins"',
    ],
  },
  {
    name: 'a config without what the class needs',
    files: { 'waypost.yml': 'connection:\n  Db:\n    class: sqlite\n    config: {}\n' },
    options: { classes },
    problems: ['waypost.yml:4:5 «config» WP_DEFINITION_CLASS_CONFIG "file" is missing, but required in "config"'],
  },
  {
    name: 'a comma in a config that is not quoted',
    files: { 'waypost.yml': 'connection:\n  Db: { class: sqlite, config: { file: a, b, c } }\n' },
    options: { classes },
    problems: [
      'waypost.yml:2:43 «b» WP_DEFINITION_CLASS_CONFIG "b" is not a valid key of "config" | A comma ends an unquoted text between { and }. Quote it: "a, b, c"',
    ],
  },
  {
    name: 'a class that needs a config, without one',
    files: { 'waypost.yml': 'connection:\n  Db:\n    class: sqlite\n' },
    options: { classes },
    problems: ['waypost.yml:3:12 «sqlite» WP_DEFINITION_CLASS_CONFIG "file" is missing, but required in "config"'],
  },
  {
    name: 'a key that the class does not know',
    files: { 'waypost.yml': 'connection:\n  Db:\n    class: sqlite\n    config: { file: a.db, pol: 3 }\n' },
    options: { classes },
    problems: [
      'waypost.yml:4:27 «pol» WP_DEFINITION_CLASS_CONFIG "pol" is not a valid key of "config" | Did you mean "pool"?',
    ],
  },
  {
    name: 'a value that the class does not take',
    files: {
      'waypost.yml':
        'connection:\n  Db:\n    class: sqlite\n    config:\n      file: a.db\n      pool: none\n      mode: x\n',
    },
    options: { classes },
    problems: [
      'waypost.yml:6:13 «none» WP_DEFINITION_CLASS_CONFIG "config/pool" must be integer, not "none"',
      'waypost.yml:7:13 «x» WP_DEFINITION_CLASS_CONFIG "config/mode" must be one of "ro", "rw"',
    ],
  },
  {
    name: 'a class whose own schema is wrong',
    files: { 'waypost.yml': 'connection:\n  Db:\n    class: broken\n' },
    options: { classes },
    problems: [
      'waypost.yml:3:12 «broken» WP_DEFINITION_CLASS_CONFIG The class "broken" has a config schema that is not valid: schema is invalid: data/type must be equal to one of the allowed values, data/type must be array, data/type must match a schema in anyOf',
    ],
  },
  {
    name: 'passwords and secrets that are written into configs',
    files: {
      'waypost.yml': `connection:
  Db: { class: any, config: { url: "postgresql://ann:hush@db/shop" } }
  Other:
    class: any
    config:
      url: postgresql://ann:\${env.PW}@db/shop?sslpassword=hush
      password: hush
      nested: { apiKey: hush, pin: 1234 }
      headers: { Authorization: Bearer hush }
      db-password: 1234
      dsn: hush
      list: [{ clientSecret: hush }, "https://a.example/?token=hush"]
      auth: { basic: { pin: hush, user: ann }, header: [{ value: hush, name: x }], all: { a: [hush] } }
action:
  mail: { class: mail, config: { private_key: hush } }
cronjob:
  tidy: { schedule: 0 4 * * *, action: { class: mail, config: { token: hush } } }
`,
    },
    options: {
      classes: {
        connections: { any: { config: withSecrets } },
        actions: { mail: { config: true } },
      },
    },
    problems: [
      isSecret('2:36', 31, 'url'),
      isSecret('6:12', 51, 'url'),
      isSecret('7:17', 4, 'password'),
      isSecret('8:25', 4, 'apiKey'),
      isSecret('9:33', 11, 'Authorization'),
      isSecret('10:20', 4, 'db-password'),
      isSecret('11:12', 4, 'dsn'),
      isSecret('12:30', 4, 'clientSecret'),
      isSecret('12:38', 31, 'list'),
      isSecret('13:29', 4, 'pin'),
      isSecret('13:66', 4, 'value'),
      isSecret('13:95', 4, 'a'),
      isSecret('15:47', 4, 'private_key'),
      isSecret('17:72', 4, 'token'),
    ],
  },
  {
    name: 'configs without a secret',
    files: {
      'waypost.yml': `connection:
  Db:
    class: any
    config:
      url: postgresql://ann@db/shop?sslmode=verify-full
      key: public
      tokenUrl: https://login.example.com/token
      token_lifetime: 1h
      max_tokens: 5
      secretName: shop
      password: "\${env.PW}"
      authorization: "Bearer \${env.TOKEN}"
      address: "https://ann:\${env.PW:-none}@a.example/?token=\${env.TOKEN}"
      secret: ""
      passwords: null
      dsn: postgresql://db/shop
`,
    },
    options: {
      classes: {
        connections: { any: { config: { type: 'object', properties: { dsn: { writeOnly: true } } } } },
        actions: {},
      },
    },
    problems: [],
  },
]
