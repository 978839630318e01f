import type { Case } from './case.ts'

/** Unknown keys and invalid values. */
export const structureCases: readonly Case[] = [
  {
    name: 'an unknown key at the top',
    files: { 'waypost.yml': 'route: {}\n' },
    problems: [
      'waypost.yml:1:1 «route» WP_DEFINITION_KEY_UNKNOWN "route" is not a valid key of waypost.yml | Did you mean "routes"?',
    ],
  },
  {
    name: 'steps outside of routes',
    files: { 'waypost.yml': 'steps: [{ a: src/a.ts }]\nroutes: {}\n' },
    problems: [
      'waypost.yml:1:1 «steps» WP_DEFINITION_KEY_UNKNOWN "steps" is not a valid key of waypost.yml | Write "steps" in a method, a route or a group of "routes"',
    ],
  },
  {
    name: 'the size of a file where a body is meant',
    files: {
      'waypost.yml': 'routes:\n  /a:\n    methods:\n      POST: { scopes: [a], maxSize: 5mb, action: src/a.ts }\n',
    },
    problems: [
      'waypost.yml:4:28 «maxSize» WP_DEFINITION_KEY_UNKNOWN "maxSize" is not a valid key of a method | Only files of a multipart body have it: { type: file, maxSize: 5mb }. The limit of the body is body_limit',
    ],
  },
  {
    name: 'an unknown key that is near to none',
    files: { 'waypost.yml': 'zzzzzzzz: {}\n' },
    problems: [
      'waypost.yml:1:1 «zzzzzzzz» WP_DEFINITION_KEY_UNKNOWN "zzzzzzzz" is not a valid key of waypost.yml | Valid keys: routes, static, schema, connection, event, action, scope, listener, cronjob, rate, env, config, plugins',
    ],
  },
  {
    name: 'an unknown key of a route',
    files: {
      'waypost.yml': 'routes:\n  /a:\n    scope: [x]\n    methods: { GET: { public: true, action: src/a.ts } }\n',
    },
    problems: [
      'waypost.yml:3:5 «scope» WP_DEFINITION_KEY_UNKNOWN "scope" is not a valid key of a route | Did you mean "scopes"?',
    ],
  },
  {
    name: 'an unknown key of a method',
    files: {
      'waypost.yml':
        'routes:\n  /a:\n    methods:\n      GET:\n        public: true\n        action: src/a.ts\n        respons: A\n',
    },
    problems: [
      'waypost.yml:7:9 «respons» WP_DEFINITION_KEY_UNKNOWN "respons" is not a valid key of a method | Did you mean "response"?',
    ],
  },
  {
    name: 'a method in small letters',
    files: { 'waypost.yml': 'routes:\n  /a:\n    methods:\n      get: { public: true, action: src/a.ts }\n' },
    problems: [
      'waypost.yml:4:7 «get» WP_DEFINITION_KEY_UNKNOWN "get" is not a valid key of a map of methods | Did you mean "GET"?',
    ],
  },
  {
    name: 'a method that is none of the five',
    files: { 'waypost.yml': 'routes:\n  /a:\n    methods:\n      HEAD: { public: true, action: src/a.ts }\n' },
    problems: [
      'waypost.yml:4:7 «HEAD» WP_DEFINITION_KEY_UNKNOWN "HEAD" is not a valid key of a map of methods | Valid keys: GET, POST, PUT, PATCH, DELETE',
    ],
  },
  {
    name: 'a route without methods',
    files: { 'waypost.yml': 'routes:\n  /a:\n    scopes: [x]\n' },
    problems: ['waypost.yml:2:3 «/a» WP_DEFINITION_KEY_MISSING "methods" is missing, but required in a route'],
  },
  {
    name: 'a route with no method in it',
    files: { 'waypost.yml': 'routes:\n  /a:\n    methods: {}\n' },
    problems: [
      'waypost.yml:3:14 «{}» WP_DEFINITION_VALUE_INVALID "methods" must be a map of methods, not an empty map',
    ],
  },
  {
    name: 'a route that is empty',
    files: { 'waypost.yml': 'routes:\n  /a:\n' },
    problems: ['waypost.yml:2:3 «/a» WP_DEFINITION_VALUE_INVALID "/a" must be a route, not empty'],
  },
  {
    name: 'a method without an action',
    files: { 'waypost.yml': 'routes:\n  /a:\n    methods:\n      GET:\n        public: true\n' },
    problems: ['waypost.yml:4:7 «GET» WP_DEFINITION_KEY_MISSING "action" is missing, but required in a method'],
  },
  {
    name: 'routes that are a list',
    files: { 'waypost.yml': 'routes:\n  - /a\n' },
    problems: [
      'waypost.yml:2:3 «- /a» WP_DEFINITION_VALUE_INVALID "routes" must be a map of path to route, not a list',
    ],
  },
  {
    name: 'public as a word of old YAML',
    files: {
      'waypost.yml': 'routes:\n  /a:\n    methods:\n      GET:\n        public: yes\n        action: src/a.ts\n',
    },
    problems: [
      'waypost.yml:5:17 «yes» WP_DEFINITION_VALUE_INVALID "public" must be true or false, not "yes" | Write true',
    ],
  },
  {
    name: 'public as a number',
    files: { 'waypost.yml': 'routes:\n  /a:\n    methods:\n      GET:\n        public: 1\n        action: src/a.ts\n' },
    problems: ['waypost.yml:5:17 «1» WP_DEFINITION_VALUE_INVALID "public" must be true or false, not 1'],
  },
  {
    name: 'scopes as a text',
    files: {
      'waypost.yml': 'routes:\n  /a:\n    scopes: todo\n    methods: { GET: { public: true, action: src/a.ts } }\n',
    },
    problems: [
      'waypost.yml:3:13 «todo» WP_DEFINITION_VALUE_INVALID "scopes" must be a list of scope names, not "todo" | Write [todo]',
    ],
  },
  {
    name: 'scopes that are empty',
    files: { 'waypost.yml': 'routes:\n  /a:\n    scopes:\n    methods: { GET: { public: true, action: src/a.ts } }\n' },
    problems: [
      'waypost.yml:3:5 «scopes» WP_DEFINITION_VALUE_INVALID "scopes" must be a list of scope names, not empty',
    ],
  },
  {
    name: 'a scope that is a number',
    files: {
      'waypost.yml': 'routes:\n  /a:\n    scopes: [2024]\n    methods: { GET: { action: src/a.ts } }\n',
    },
    problems: [
      'waypost.yml:3:14 «2024» WP_DEFINITION_VALUE_INVALID Each item of "scopes" must be a scope name, not 2024 | Quote it: "2024"',
    ],
  },
  {
    name: 'a scope with a comma',
    files: {
      'waypost.yml': 'routes:\n  /a:\n    scopes: ["a,b"]\n    methods: { GET: { action: src/a.ts } }\n',
    },
    problems: [
      'waypost.yml:3:14 «"a,b"» WP_DEFINITION_VALUE_INVALID Each item of "scopes" must be a scope name, not "a,b"',
    ],
  },
  {
    name: 'a scope twice',
    files: {
      'waypost.yml': 'routes:\n  /a:\n    scopes: [a, a]\n    methods: { GET: { action: src/a.ts } }\n',
    },
    problems: ['waypost.yml:3:17 «a» WP_DEFINITION_VALUE_INVALID "a" is repeated in "scopes" | Remove one of the two'],
  },
  {
    name: 'a description that is a number',
    files: {
      'waypost.yml':
        'routes:\n  /a:\n    methods:\n      GET:\n        public: true\n        action: src/a.ts\n        description: 7\n',
    },
    problems: [
      'waypost.yml:7:22 «7» WP_DEFINITION_VALUE_INVALID "description" must be a string, not 7 | Quote it: "7"',
    ],
  },
  {
    name: 'html that is not trusted',
    files: {
      'waypost.yml':
        'routes:\n  /a:\n    methods:\n      GET:\n        public: true\n        action: src/a.ts\n        html: yes\n',
    },
    problems: ['waypost.yml:7:15 «yes» WP_DEFINITION_VALUE_INVALID "html" must be "trusted", not "yes"'],
  },
  {
    name: 'a version of routes that is not known',
    files: {
      'waypost.yml': 'routes:\n  /a:\n    version: 2\n    methods: { GET: { public: true, action: src/a.ts } }\n',
    },
    problems: ['waypost.yml:3:14 «2» WP_DEFINITION_VALUE_INVALID "version" must be 1, not 2'],
  },
  {
    name: 'a timeout without a unit',
    files: {
      'waypost.yml':
        'routes:\n  /a:\n    methods:\n      GET:\n        public: true\n        action: src/a.ts\n        timeout: 30\n',
    },
    problems: [
      'waypost.yml:7:18 «30» WP_DEFINITION_VALUE_INVALID "timeout" must be a duration such as 30s or 5m, not 30',
    ],
  },
  {
    name: 'a timeout that is no duration',
    files: {
      'waypost.yml':
        'routes:\n  /a:\n    methods:\n      GET:\n        public: true\n        action: src/a.ts\n        timeout: soon\n',
    },
    problems: [
      'waypost.yml:7:18 «soon» WP_DEFINITION_VALUE_INVALID "timeout" must be a duration such as 30s or 5m, not "soon"',
    ],
  },
  {
    name: 'a timeout of nothing',
    files: {
      'waypost.yml':
        'routes:\n  /a:\n    methods:\n      GET:\n        public: true\n        action: src/a.ts\n        timeout: 0s\n',
    },
    problems: [
      'waypost.yml:7:18 «0s» WP_DEFINITION_VALUE_INVALID "timeout" must be more than 0 and at most 1h, not "0s"',
    ],
  },
  {
    name: 'a timeout that is too long',
    files: {
      'waypost.yml':
        'routes:\n  /a:\n    methods:\n      GET:\n        public: true\n        action: src/a.ts\n        timeout: 2h\n',
    },
    problems: [
      'waypost.yml:7:18 «2h» WP_DEFINITION_VALUE_INVALID "timeout" must be more than 0 and at most 1h, not "2h"',
    ],
  },
  {
    name: 'a deprecated route without a date',
    files: {
      'waypost.yml': 'routes:\n  /a:\n    deprecated: true\n    methods: { GET: { public: true, action: src/a.ts } }\n',
    },
    problems: [
      'waypost.yml:3:17 «true» warning WP_DEFINITION_DEPRECATED_DATE "/a" is deprecated without a date, so responses have no Deprecation header | Add the date: deprecated: 2027-01-31',
    ],
  },
  {
    name: 'a deprecated route with no for a date',
    files: {
      'waypost.yml':
        'routes:\n  /a:\n    deprecated: false\n    methods: { GET: { public: true, action: src/a.ts } }\n',
    },
    problems: [
      'waypost.yml:3:17 «false» WP_DEFINITION_VALUE_INVALID "deprecated" must be a date such as 2027-01-31, not false',
    ],
  },
  {
    name: 'a date that does not exist',
    files: {
      'waypost.yml':
        'routes:\n  /a:\n    deprecated: 2026-02-30\n    methods: { GET: { public: true, action: src/a.ts } }\n',
    },
    problems: [
      'waypost.yml:3:17 «2026-02-30» WP_DEFINITION_VALUE_INVALID "deprecated" must be a date such as 2027-01-31, not "2026-02-30"',
    ],
  },
  {
    name: 'a status that is none',
    files: {
      'waypost.yml':
        'routes:\n  /a:\n    methods:\n      GET:\n        public: true\n        action: src/a.ts\n        responses: { 2XX: true }\n',
    },
    problems: [
      'waypost.yml:7:22 «2XX» WP_DEFINITION_NAME_INVALID "2XX" is not a valid name for a response | Write a status from 200 to 599, or 4XX, 5XX or default for all other errors',
    ],
  },
  {
    name: 'an answer described twice',
    files: {
      'waypost.yml':
        'routes:\n  /a:\n    methods:\n      GET:\n        public: true\n        action: src/a.ts\n        response: true\n        responses: { 200: true }\n',
    },
    problems: [
      'waypost.yml:8:22 «200» WP_DEFINITION_RESPONSE_INVALID The 200 response is defined twice | "response" defines the 200 response. Remove one of the two',
    ],
  },
  {
    name: 'an answer 204 with a schema',
    files: {
      'waypost.yml':
        'routes:\n  /a:\n    methods:\n      GET:\n        public: true\n        action: src/a.ts\n        responses: { 204: true }\n',
    },
    problems: [
      'waypost.yml:7:22 «204» WP_DEFINITION_RESPONSE_INVALID A 204 response has no body | Write "204:" without a schema',
    ],
  },
  {
    name: 'an answer without a schema',
    files: {
      'waypost.yml':
        'routes:\n  /a:\n    methods:\n      GET:\n        public: true\n        action: src/a.ts\n        responses:\n          201:\n',
    },
    problems: [
      'waypost.yml:8:11 «201» WP_DEFINITION_RESPONSE_INVALID "201" must be a schema, not empty | Only 204, 205 and 304 responses have no body',
    ],
  },
  {
    name: 'a request on GET',
    files: {
      'waypost.yml':
        'routes:\n  /a:\n    methods:\n      GET:\n        public: true\n        action: src/a.ts\n        request: true\n',
    },
    problems: [
      'waypost.yml:7:9 «request» WP_DEFINITION_REQUEST_UNUSED A GET request has no body | Describe the query with "parameters"',
    ],
  },
  {
    name: 'a schema name with a space',
    files: { 'waypost.yml': 'schema:\n  My Todo: true\n' },
    problems: [
      'waypost.yml:2:3 «My Todo» WP_DEFINITION_NAME_INVALID "My Todo" is not a valid name for a schema | Use letters, digits and . _ - and begin with a letter or a digit',
    ],
  },
  {
    name: 'an event name with a comma',
    files: { 'waypost.yml': 'event:\n  "a,b": { scopes: [x] }\n' },
    problems: [
      'waypost.yml:2:3 «"a,b"» WP_DEFINITION_NAME_INVALID "a,b" is not a valid name for an event | Use letters, digits and . _ : / - and begin with a letter or a digit, but not with "waypost."',
    ],
  },
  {
    name: 'an event name that begins as those of Waypost itself',
    files: { 'waypost.yml': 'event:\n  waypost.test: { scopes: [x] }\n' },
    problems: [
      'waypost.yml:2:3 «waypost.test» WP_DEFINITION_NAME_INVALID "waypost.test" is not a valid name for an event | Use letters, digits and . _ : / - and begin with a letter or a digit, but not with "waypost."',
    ],
  },
  {
    name: 'an unknown key of an event',
    files: { 'waypost.yml': 'event:\n  a: { scopes: [x], shema: A }\n' },
    problems: [
      'waypost.yml:2:21 «shema» WP_DEFINITION_KEY_UNKNOWN "shema" is not a valid key of an event | Did you mean "schema"?',
    ],
  },
  {
    name: 'a rate without a window',
    files: { 'waypost.yml': 'rate:\n  r: { limit: 5 }\n' },
    problems: ['waypost.yml:2:3 «r» WP_DEFINITION_KEY_MISSING "window" is missing, but required in a rate'],
  },
  {
    name: 'a rate of nothing',
    files: { 'waypost.yml': 'rate:\n  r: { limit: 0, window: 1m }\n' },
    problems: ['waypost.yml:2:15 «0» WP_DEFINITION_VALUE_INVALID "limit" must be an integer of at least 1, not 0'],
  },
  {
    name: 'a rate with a window that is no duration',
    files: { 'waypost.yml': 'rate:\n  r: { limit: 5, window: minute }\n' },
    problems: [
      'waypost.yml:2:26 «minute» WP_DEFINITION_VALUE_INVALID "window" must be a duration such as 30s or 5m, not "minute"',
    ],
  },
  {
    name: 'a rate by something else',
    files: { 'waypost.yml': 'rate:\n  r: { limit: 5, window: 1m, by: adress }\n' },
    problems: [
      'waypost.yml:2:34 «adress» WP_DEFINITION_VALUE_INVALID "by" must be "principal" or "address", not "adress" | Did you mean "address"?',
    ],
  },
  {
    name: 'a connection without a class',
    files: { 'waypost.yml': 'connection:\n  Db: { config: {} }\n' },
    problems: [
      'waypost.yml:2:3 «Db» WP_DEFINITION_KEY_MISSING "class" is missing, but required in a class with its config',
    ],
  },
  {
    name: 'a connection called System',
    files: { 'waypost.yml': 'connection:\n  System: { class: postgresql }\n' },
    problems: [
      'waypost.yml:2:3 «System» WP_DEFINITION_NAME_INVALID "System" is not a valid name for a connection | System is built in: it is the database in WAYPOST_SYSTEM_URL and needs no entry',
    ],
  },
  {
    name: 'an action called like a file',
    files: { 'waypost.yml': 'action:\n  a.ts: { class: X }\n' },
    problems: [
      'waypost.yml:2:3 «a.ts» WP_DEFINITION_NAME_INVALID "a.ts" is not a valid name for an action | Names that end in .ts or .js always refer to files',
    ],
  },
  {
    name: 'a plugin that is no package',
    files: { 'waypost.yml': 'plugins: [./plugin]\n' },
    problems: [
      'waypost.yml:1:11 «./plugin» WP_DEFINITION_NAME_INVALID "./plugin" is not a valid name for a plugin | Use the name of an npm package, as in package.json, or a file such as ./plugins/geo.ts',
    ],
  },
  {
    name: 'a plugin twice',
    files: { 'waypost.yml': 'plugins: [acme, { name: acme }]\n' },
    problems: [
      'waypost.yml:1:25 «acme» WP_DEFINITION_VALUE_INVALID The plugin "acme" is listed twice | Remove one of the two',
    ],
  },
  {
    name: 'a plugin without a name',
    files: { 'waypost.yml': 'plugins:\n  - config: {}\n' },
    problems: ['waypost.yml:2:5 «config: {}» WP_DEFINITION_KEY_MISSING "name" is missing, but required in a plugin'],
  },
]
