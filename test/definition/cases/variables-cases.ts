import type { Case } from './case.ts'

/** `${env.NAME}` in the wrong place or with a syntax error. */
export const variablesCases: readonly Case[] = [
  {
    name: 'a variable where none may stand',
    files: {
      'waypost.yml':
        'routes:\n  /a:\n    methods:\n      GET:\n        public: true\n        action: src/a.ts\n        description: "${env.TEXT}"\n',
    },
    problems: [
      'waypost.yml:7:23 «${env.TEXT}» WP_DEFINITION_ENV_PLACE "${env.TEXT}" is not allowed here | Variables are allowed in the config of a connection, an action or a plugin, in "config" and in "cronjob"',
    ],
  },
  {
    name: 'a variable in a key',
    files: { 'waypost.yml': 'event:\n  "${env.NAME}": { scopes: [x] }\n' },
    problems: [
      'waypost.yml:2:4 «${env.NAME}» WP_DEFINITION_ENV_PLACE "${env.NAME}" is not allowed here | Variables are allowed in the config of a connection, an action or a plugin, in "config" and in "cronjob"',
    ],
  },
  {
    name: 'a variable in the name of a class',
    files: { 'waypost.yml': 'connection:\n  Db: { class: "${env.DB_CLASS}" }\n' },
    problems: [
      'waypost.yml:2:17 «${env.DB_CLASS}» WP_DEFINITION_ENV_PLACE "${env.DB_CLASS}" is not allowed here | Variables are allowed in the config of a connection, an action or a plugin, in "config" and in "cronjob"',
    ],
  },
  {
    name: 'a variable of Waypost',
    files: { 'waypost.yml': 'connection:\n  Db: { class: sqlite, config: { url: "${env.WAYPOST_SYSTEM_URL}" } }\n' },
    problems: [
      'waypost.yml:2:40 «${env.WAYPOST_SYSTEM_URL}» WP_DEFINITION_ENV_RESERVED The variable "WAYPOST_SYSTEM_URL" is reserved for Waypost | Rename the variable',
    ],
  },
  {
    name: 'a variable that is not written right',
    files: { 'waypost.yml': 'connection:\n  Db: { class: sqlite, config: { url: "x${env.my-url}" } }\n' },
    problems: [
      'waypost.yml:2:41 «${env.my-url}» WP_DEFINITION_ENV_INVALID "${env.my-url}" is not a valid variable reference | Write ${env.NAME} or ${env.NAME:-default}',
    ],
  },
  {
    name: 'a variable that is not closed',
    files: { 'waypost.yml': 'connection:\n  Db: { class: sqlite, config: { url: "${env.URL" } }\n' },
    problems: [
      'waypost.yml:2:40 «${env.URL» WP_DEFINITION_ENV_INVALID "${env.URL" is not a valid variable reference | Write ${env.NAME} or ${env.NAME:-default}',
    ],
  },
  {
    name: 'a variable in the name of a plugin',
    files: { 'waypost.yml': 'plugins:\n  - { name: "${env.KEY}" }\n' },
    problems: [
      'waypost.yml:2:14 «${env.KEY}» WP_DEFINITION_ENV_PLACE "${env.KEY}" is not allowed here | Variables are allowed in the config of a connection, an action or a plugin, in "config" and in "cronjob"',
    ],
  },
  {
    name: 'variables that are not declared right',
    files: {
      'waypost.yml': `env:
  WAYPOST_URL: {}
  my-url: {}
  PAGE: { type: number }
  LIMIT: { type: integer, default: 1.5 }
  RETRIES: { default: 3 }
  DEBUG: { type: boolean, default: "yes" }
  KEY: { secret: true, default: hush }
  TOKEN: { secret: yes, defualt: x }
  HOST: { default: "\${env.NAME}" }
`,
    },
    problems: [
      'waypost.yml:2:3 «WAYPOST_URL» WP_DEFINITION_ENV_RESERVED The variable "WAYPOST_URL" is reserved for Waypost | Rename the variable',
      'waypost.yml:3:3 «my-url» WP_DEFINITION_NAME_INVALID "my-url" is not a valid name for a variable | Use letters, digits and _ and begin with a letter or _',
      'waypost.yml:4:17 «number» WP_DEFINITION_VALUE_INVALID "type" must be "string" or "integer" or "boolean", not "number" | Use one of string, integer, boolean',
      'waypost.yml:5:36 «1.5» WP_DEFINITION_VALUE_INVALID The default of "LIMIT" must be an integer, not 1.5',
      'waypost.yml:6:23 «3» WP_DEFINITION_VALUE_INVALID The default of "RETRIES" must be a string, not 3 | Add type: integer, or quote it: "3"',
      'waypost.yml:7:36 «"yes"» WP_DEFINITION_VALUE_INVALID The default of "DEBUG" must be true or false, not "yes" | Add type: string',
      'waypost.yml:8:33 «hush» WP_DEFINITION_VALUE_INVALID The secret variable "KEY" has a default, which every release would contain | Remove the default, or write default: "" to make the variable optional',
      'waypost.yml:9:20 «yes» WP_DEFINITION_VALUE_INVALID "secret" must be true or false, not "yes" | Write true',
      'waypost.yml:9:25 «defualt» WP_DEFINITION_KEY_UNKNOWN "defualt" is not a valid key of a variable | Did you mean "default"?',
      'waypost.yml:10:21 «${env.NAME}» WP_DEFINITION_ENV_PLACE "${env.NAME}" is not allowed here | Variables are allowed in the config of a connection, an action or a plugin, in "config" and in "cronjob"',
    ],
  },
]
