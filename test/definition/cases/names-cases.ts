import type { Case } from './case.ts'

/** Unknown schemas, events, rates, actions and files. */
export const namesCases: readonly Case[] = [
  {
    name: 'an unknown schema, with one near',
    files: {
      'waypost.yml':
        'routes:\n  /a:\n    methods:\n      GET:\n        public: true\n        action: src/a.ts\n        response: Tdo\nschema:\n  Todo: true\n',
    },
    problems: [
      'waypost.yml:7:19 «Tdo» WP_DEFINITION_SCHEMA_UNKNOWN Unknown schema "Tdo" | Did you mean "Todo" (waypost.yml:9)?',
    ],
  },
  {
    name: 'an unknown schema, with none near',
    files: {
      'waypost.yml':
        'routes:\n  /a:\n    methods:\n      GET:\n        public: true\n        action: src/a.ts\n        response: Zebra\nschema:\n  Todo: true\n  Message: true\n',
    },
    problems: [
      'waypost.yml:7:19 «Zebra» WP_DEFINITION_SCHEMA_UNKNOWN Unknown schema "Zebra" | Available: Todo, Message',
    ],
  },
  {
    name: 'an unknown schema where it does not exist',
    files: {
      'waypost.yml':
        'routes:\n  /a:\n    methods:\n      GET:\n        public: true\n        action: src/a.ts\n        response: Todo\n',
    },
    problems: ['waypost.yml:7:19 «Todo» WP_DEFINITION_SCHEMA_UNKNOWN Unknown schema "Todo" | Add it under "schema:"'],
  },
  {
    name: 'a file where a schema should be included',
    files: {
      'waypost.yml':
        'routes:\n  /a:\n    methods:\n      GET:\n        public: true\n        action: src/a.ts\n        response: schema/todo.yml\n',
      'schema/todo.yml': 'true',
    },
    problems: [
      'waypost.yml:7:19 «schema/todo.yml» WP_DEFINITION_SCHEMA_UNKNOWN Unknown schema "schema/todo.yml" | To include a file: !include schema/todo.yml',
    ],
  },
  {
    name: 'an unknown event',
    files: {
      'waypost.yml':
        'routes:\n  /a:\n    methods:\n      GET:\n        public: true\n        action: src/a.ts\n        dispatch: todo_creatd\nevent:\n  todo_created: { scopes: [x] }\n',
    },
    problems: [
      'waypost.yml:7:19 «todo_creatd» WP_DEFINITION_EVENT_UNKNOWN Unknown event "todo_creatd" | Did you mean "todo_created" (waypost.yml:9)?',
    ],
  },
  {
    name: 'an unknown rate',
    files: {
      'waypost.yml':
        'routes:\n  /a:\n    methods:\n      GET:\n        public: true\n        action: src/a.ts\n        rate: strict\nrate:\n  strikt: { limit: 1, window: 1s }\n',
    },
    problems: [
      'waypost.yml:7:15 «strict» WP_DEFINITION_RATE_UNKNOWN Unknown rate "strict" | Did you mean "strikt" (waypost.yml:9)?',
    ],
  },
  {
    name: 'an unknown rate of a route',
    files: {
      'waypost.yml': 'routes:\n  /a:\n    rate: slow\n    methods: { GET: { public: true, action: src/a.ts } }\n',
    },
    problems: ['waypost.yml:3:11 «slow» WP_DEFINITION_RATE_UNKNOWN Unknown rate "slow" | Add it under "rate:"'],
  },
  {
    name: 'an unknown action',
    files: {
      'waypost.yml':
        'routes:\n  /a: { methods: { GET: { public: true, action: lst } } }\naction:\n  list: { class: X }\n',
    },
    problems: [
      'waypost.yml:2:49 «lst» WP_DEFINITION_ACTION_UNKNOWN Unknown action "lst" | Did you mean "list" (waypost.yml:4)?',
    ],
  },
  {
    name: 'an action file of another kind',
    files: { 'waypost.yml': 'routes:\n  /a: { methods: { GET: { public: true, action: src/a.mts } } }\n' },
    problems: [
      'waypost.yml:2:49 «src/a.mts» WP_DEFINITION_ACTION_UNKNOWN Unknown action "src/a.mts" | A file name ends in .ts or .js; any other text is the name of an entry in "action"',
    ],
  },
  {
    name: 'an action file that is missing',
    files: { 'waypost.yml': 'routes:\n  /a: { methods: { GET: { public: true, action: src/b.ts } } }\n' },
    problems: [
      'waypost.yml:2:49 «src/b.ts» WP_BUILD_ACTION_MISSING File not found: src/b.ts | Did you mean src/a.ts? To create a new file: waypost generate:action src/b.ts',
    ],
  },
  {
    name: 'an action file in a folder that is missing',
    files: { 'waypost.yml': 'routes:\n  /a: { methods: { GET: { public: true, action: lib/list.ts } } }\n' },
    problems: [
      'waypost.yml:2:49 «lib/list.ts» WP_BUILD_ACTION_MISSING File not found: lib/list.ts | Create it with: waypost generate:action lib/list.ts',
    ],
  },
  {
    name: 'an action file above the project',
    files: { 'waypost.yml': 'routes:\n  /a: { methods: { GET: { public: true, action: ../a.ts } } }\n' },
    problems: [
      'waypost.yml:2:49 «../a.ts» WP_DEFINITION_ACTION_INVALID "../a.ts" is outside the project | Write the path relative to waypost.yml, for example src/todo/insert.ts',
    ],
  },
  {
    name: 'an action that is a folder',
    files: {
      'waypost.yml': 'routes:\n  /a: { methods: { GET: { public: true, action: src/dir.ts } } }\n',
      'src/dir.ts/x': '',
    },
    problems: [
      'waypost.yml:2:49 «src/dir.ts» WP_DEFINITION_ACTION_INVALID src/dir.ts cannot be used as an action: it is a folder',
    ],
  },
  {
    name: 'an action of the wrong kind',
    files: { 'waypost.yml': 'routes:\n  /a: { methods: { GET: { public: true, action: [src/a.ts] } } }\n' },
    problems: [
      'waypost.yml:2:49 «[src/a.ts]» WP_DEFINITION_VALUE_INVALID "action" must be a file, the name of an action, or a class with its config, not a list',
    ],
  },
  {
    name: 'names that may stand in an include that is missing',
    files: {
      'waypost.yml':
        'routes:\n  /a:\n    methods:\n      GET:\n        public: true\n        action: src/a.ts\n        response: Todo\n        dispatch: made\nschema: !include missing.yml\nevent: !include missing.yml\n',
    },
    problems: [
      'waypost.yml:9:9 «!include missing.yml» WP_DEFINITION_INCLUDE_MISSING File not found: missing.yml',
      'waypost.yml:10:8 «!include missing.yml» WP_DEFINITION_INCLUDE_MISSING File not found: missing.yml',
    ],
  },
  {
    name: 'schemas that nothing uses, but for each other',
    files: {
      'waypost.yml':
        'schema:\n  Used: { $ref: schema:///Inner }\n  Inner: true\n  One: { type: array, items: { $ref: schema:///Other } }\n  Other: { type: array, items: { $ref: schema:///One } }\nroutes:\n  /a: { methods: { GET: { public: true, response: Used, action: src/a.ts } } }\n',
    },
    problems: [
      'waypost.yml:4:3 «One» warning WP_DEFINITION_SCHEMA_UNUSED The schema "One" is not used | Use it in a route, an event or another schema, or remove it',
      'waypost.yml:5:3 «Other» warning WP_DEFINITION_SCHEMA_UNUSED The schema "Other" is not used | Use it in a route, an event or another schema, or remove it',
    ],
  },
  {
    name: 'an event that everybody may subscribe to',
    files: { 'waypost.yml': 'event:\n  made: { schema: Todo }\nschema:\n  Todo: true\n' },
    problems: [
      'waypost.yml:2:3 «made» warning WP_DEFINITION_EVENT_OPEN Every user with the scope consumer can subscribe to the event "made" and receive data that is dispatched without "users", but no public route exposes its data | Add scopes: [NAME] to limit who can subscribe, or scopes: [] if every user may subscribe',
    ],
  },
  {
    name: 'scopes that are not declared, once any is',
    files: {
      'waypost.yml':
        'scope:\n  todo.write: { description: Changes to-dos }\nroutes:\n  /a:\n    scopes: [todo.wirte, consumer]\n    methods:\n      GET: { action: src/a.ts }\n      PUT: { scopes: [backend.raed], action: src/a.ts }\n      POST: { scopes: [zebra, todo.write], action: src/a.ts }\nevent: { made: { scopes: [todo.writ] } }\nconfig: { scopes_default: "consumer, todo.writes,${env.MORE:-x}" }\n',
    },
    problems: [
      'waypost.yml:5:14 «todo.wirte» warning WP_DEFINITION_SCOPE_UNDECLARED "todo.wirte" is not a declared scope | Did you mean "todo.write" (waypost.yml:2)?',
      'waypost.yml:8:23 «backend.raed» warning WP_DEFINITION_SCOPE_UNDECLARED "backend.raed" is not a declared scope | Did you mean "backend.read"?',
      'waypost.yml:9:24 «zebra» warning WP_DEFINITION_SCOPE_UNDECLARED "zebra" is not a declared scope | Declare it under "scope:"',
      'waypost.yml:10:27 «todo.writ» warning WP_DEFINITION_SCOPE_UNDECLARED "todo.writ" is not a declared scope | Did you mean "todo.write" (waypost.yml:2)?',
      'waypost.yml:11:27 «"consumer, todo.writes,${env.MORE:-x}"» warning WP_DEFINITION_SCOPE_UNDECLARED "todo.writes" is not a declared scope | Did you mean "todo.write" (waypost.yml:2)?',
    ],
  },
  {
    name: 'scopes where none is declared, or the declared ones could not be read',
    files: {
      'waypost.yml':
        'scope: !include missing.yml\nroutes:\n  /a: { scopes: [todo], methods: { GET: { action: src/a.ts } } }\n',
    },
    problems: ['waypost.yml:1:8 «!include missing.yml» WP_DEFINITION_INCLUDE_MISSING File not found: missing.yml'],
  },
  {
    name: 'an event whose scope every new user gets',
    files: {
      'waypost.yml':
        'event:\n  made: { scopes: [admin, todo] }\n  sold: { scopes: [admin] }\n  open: { scopes: [] }\nconfig: { scopes_default: [consumer, todo] }\n',
    },
    problems: [
      'waypost.yml:2:27 «todo» warning WP_DEFINITION_EVENT_DEFAULT_SCOPE Every new user gets the scope "todo", so everyone can subscribe to the event "made" and receive data that is dispatched without "users" | Use a scope that is not in scopes_default, or write scopes: [] if every user may subscribe',
    ],
  },
  {
    name: 'an event whose scope every new user gets by default, or by a variable whose value is known',
    files: {
      'waypost.yml':
        'event:\n  made: { scopes: [stock] }\n  sold: { scopes: [other] }\nconfig: { scopes_default: "${env.DEFAULTS}" }\n',
    },
    options: { variables: { DEFAULTS: 'consumer,stock' } },
    problems: [
      'waypost.yml:2:20 «stock» warning WP_DEFINITION_EVENT_DEFAULT_SCOPE Every new user gets the scope "stock", so everyone can subscribe to the event "made" and receive data that is dispatched without "users" | Use a scope that is not in scopes_default, or write scopes: [] if every user may subscribe',
    ],
  },
  {
    name: 'no event that declares that every user may subscribe',
    files: { 'waypost.yml': 'event:\n  made: { schema: Todo, scopes: [] }\nschema:\n  Todo: true\n' },
    problems: [],
  },
  {
    name: 'an event whose scope every new user gets without any setting',
    files: { 'waypost.yml': 'event:\n  made: { scopes: [consumer] }\n' },
    problems: [
      'waypost.yml:2:20 «consumer» warning WP_DEFINITION_EVENT_DEFAULT_SCOPE Every new user gets the scope "consumer", so everyone can subscribe to the event "made" and receive data that is dispatched without "users" | Use a scope that is not in scopes_default, or write scopes: [] if every user may subscribe',
    ],
  },
  {
    name: 'scopes of what is public',
    files: {
      'waypost.yml':
        'routes:\n  /a:\n    scopes: [todo]\n    methods:\n      GET: { public: true, action: src/a.ts }\n      PUT: { action: src/a.ts }\n  /b:\n    methods: { GET: { public: true, scopes: [todo], action: src/a.ts } }\n  /c:\n    scopes: [todo]\n    methods: { GET: { public: true, action: src/a.ts } }\n',
    },
    problems: [
      'waypost.yml:8:37 «scopes» warning WP_DEFINITION_PUBLIC_SCOPES GET /b is public, so its scopes are ignored and no token is needed | Remove public: true to require a token, or remove "scopes"',
      'waypost.yml:10:5 «scopes» warning WP_DEFINITION_PUBLIC_SCOPES GET /c is public, so its scopes are ignored and no token is needed | Remove public: true to require a token, or remove "scopes"',
    ],
  },
]
