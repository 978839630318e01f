import type { Case } from './case.ts'

/** Paths of routes, their parameters and access. */
export const pathCases: readonly Case[] = [
  {
    name: 'a path without a slash',
    files: { 'waypost.yml': 'routes:\n  todo:\n    methods: { GET: { public: true, action: src/a.ts } }\n' },
    problems: [
      'waypost.yml:2:3 «todo» WP_DEFINITION_PATH_INVALID "todo" is not a valid path: it does not begin with "/" | Write /todo',
    ],
  },
  {
    name: 'a path that ends with a slash',
    files: { 'waypost.yml': 'routes:\n  /todo/:\n    methods: { GET: { public: true, action: src/a.ts } }\n' },
    problems: [
      'waypost.yml:2:3 «/todo/» WP_DEFINITION_PATH_INVALID "/todo/" is not a valid path: it ends with "/" | Write /todo',
    ],
  },
  {
    name: 'an empty part of a path',
    files: { 'waypost.yml': 'routes:\n  /todo//x:\n    methods: { GET: { public: true, action: src/a.ts } }\n' },
    problems: [
      'waypost.yml:2:3 «/todo//x» WP_DEFINITION_PATH_INVALID "/todo//x" is not a valid path: it has an empty segment',
    ],
  },
  {
    name: 'a parameter in braces',
    files: { 'waypost.yml': 'routes:\n  /todo/{id}:\n    methods: { GET: { public: true, action: src/a.ts } }\n' },
    problems: [
      'waypost.yml:2:9 «{id}» WP_DEFINITION_PATH_INVALID "/todo/{id}" is not a valid path: "{id}" is not a valid parameter | Write :id',
    ],
  },
  {
    name: 'a parameter that is only part of a part',
    files: { 'waypost.yml': 'routes:\n  /todo/x:id:\n    methods: { GET: { public: true, action: src/a.ts } }\n' },
    problems: [
      'waypost.yml:2:9 «x:id» WP_DEFINITION_PATH_INVALID "/todo/x:id" is not a valid path: a parameter must be a whole segment | Write /:NAME between two "/"',
    ],
  },
  {
    name: 'a parameter with a dash',
    files: { 'waypost.yml': 'routes:\n  /todo/:to-do:\n    methods: { GET: { public: true, action: src/a.ts } }\n' },
    problems: [
      'waypost.yml:2:9 «:to-do» WP_DEFINITION_PATH_INVALID "/todo/:to-do" is not a valid path: ":to-do" is not a valid parameter | Write :NAME with letters, digits and _',
    ],
  },
  {
    name: 'a parameter twice',
    files: { 'waypost.yml': 'routes:\n  /todo/:id/:id:\n    methods: { GET: { public: true, action: src/a.ts } }\n' },
    problems: [
      'waypost.yml:2:3 «/todo/:id/:id» WP_DEFINITION_PATH_INVALID "/todo/:id/:id" is not a valid path: ":id" is repeated | Give each parameter a unique name',
    ],
  },
  {
    name: 'a wildcard without a name',
    files: { 'waypost.yml': 'routes:\n  "/todo/*":\n    methods: { GET: { public: true, action: src/a.ts } }\n' },
    problems: [
      'waypost.yml:2:10 «*» WP_DEFINITION_PATH_INVALID "/todo/*" is not a valid path: "*" is not a valid parameter | Write *NAME with letters, digits and _',
    ],
  },
  {
    name: 'a wildcard that is not the last segment',
    files: { 'waypost.yml': 'routes:\n  /a/*rest/b:\n    methods: { GET: { public: true, action: src/a.ts } }\n' },
    problems: [
      'waypost.yml:2:6 «*rest» WP_DEFINITION_PATH_INVALID "/a/*rest/b" is not a valid path: "*rest" is the rest of the path, so no segment can follow it | Write :rest for one segment',
    ],
  },
  {
    name: 'a group whose path ends with a wildcard',
    files: {
      'waypost.yml':
        'routes:\n  /a/*rest:\n    routes: { /b: { methods: { GET: { public: true, action: src/a.ts } } } }\n',
    },
    problems: [
      'waypost.yml:2:6 «*rest» WP_DEFINITION_PATH_INVALID "/a/*rest" is not a valid path: "*rest" is the rest of the path, so no segment can follow it | Write :rest for one segment',
    ],
  },
  {
    name: 'two wildcards at the same place',
    files: {
      'waypost.yml':
        'routes:\n  /a/*one:\n    methods: { GET: { public: true, action: src/a.ts } }\n  /a/*two:\n    methods: { GET: { public: true, action: src/a.ts } }\n',
    },
    problems: [
      'waypost.yml:4:3 «/a/*two» WP_DEFINITION_ROUTE_DUPLICATE "/a/*two" matches the same requests as "/a/*one" | "/a/*one" is defined at waypost.yml:2. Put the methods of both into one route',
    ],
  },
  {
    name: 'a query in a path',
    files: { 'waypost.yml': 'routes:\n  /todo?x=1:\n    methods: { GET: { public: true, action: src/a.ts } }\n' },
    problems: [
      'waypost.yml:2:3 «/todo?x=1» WP_DEFINITION_PATH_INVALID "/todo?x=1" is not a valid path: it contains a query or fragment | Describe the query with "parameters" of the method',
    ],
  },
  {
    name: 'a space in a path',
    files: { 'waypost.yml': 'routes:\n  /to do:\n    methods: { GET: { public: true, action: src/a.ts } }\n' },
    problems: [
      'waypost.yml:2:4 «to do» WP_DEFINITION_PATH_INVALID "/to do" is not a valid path: " " is not allowed | Use letters, digits and - . _ ~ ! $ & \' + , ; = @',
    ],
  },
  {
    name: 'a reserved path',
    files: { 'waypost.yml': 'routes:\n  /backend:\n    methods: { GET: { public: true, action: src/a.ts } }\n' },
    problems: [
      'waypost.yml:2:3 «/backend» WP_DEFINITION_PATH_RESERVED "/backend" is reserved: /backend and all paths below it belong to Waypost | Choose another path',
    ],
  },
  {
    name: 'a path below a reserved one',
    files: { 'waypost.yml': 'routes:\n  /docs/mine:\n    methods: { GET: { public: true, action: src/a.ts } }\n' },
    problems: [
      'waypost.yml:2:3 «/docs/mine» WP_DEFINITION_PATH_RESERVED "/docs/mine" is reserved: /docs and all paths below it belong to Waypost | Choose another path',
    ],
  },
  {
    name: 'a reserved file',
    files: { 'waypost.yml': 'routes:\n  /openapi.json:\n    methods: { GET: { public: true, action: src/a.ts } }\n' },
    problems: [
      'waypost.yml:2:3 «/openapi.json» WP_DEFINITION_PATH_RESERVED "/openapi.json" is reserved: /openapi.json and all paths below it belong to Waypost | Choose another path',
    ],
  },
  {
    name: 'two paths of the same shape',
    files: {
      'waypost.yml':
        'routes:\n  /todo/:id:\n    methods: { GET: { public: true, action: src/a.ts } }\n  /todo/:todo_id:\n    methods: { GET: { public: true, action: src/a.ts } }\n',
    },
    problems: [
      'waypost.yml:4:3 «/todo/:todo_id» WP_DEFINITION_ROUTE_DUPLICATE "/todo/:todo_id" matches the same requests as "/todo/:id" | "/todo/:id" is defined at waypost.yml:2. Put the methods of both into one route',
    ],
  },
  {
    name: 'a path parameter without a schema',
    files: {
      'waypost.yml':
        'routes:\n  /a/:id/:no:\n    path: { id: { type: integer } }\n    methods: { GET: { public: true, action: src/a.ts } }\n',
    },
    problems: [
      'waypost.yml:3:5 «path» WP_DEFINITION_PATH_PARAMETER ":no" of /a/:id/:no has no schema | Add no: { type: string } to "path"',
    ],
  },
  {
    name: 'a schema for a path parameter that is not there',
    files: {
      'waypost.yml':
        'routes:\n  /a/:todo_id:\n    path: { todoid: { type: integer } }\n    methods: { GET: { public: true, action: src/a.ts } }\n',
    },
    problems: [
      'waypost.yml:3:13 «todoid» WP_DEFINITION_PATH_PARAMETER "todoid" is not a parameter of /a/:todo_id | Did you mean "todo_id"?',
    ],
  },
  {
    name: 'a schema for a path without parameters',
    files: {
      'waypost.yml':
        'routes:\n  /a:\n    path: { id: { type: integer } }\n    methods: { GET: { public: true, action: src/a.ts } }\n',
    },
    problems: ['waypost.yml:3:13 «id» WP_DEFINITION_PATH_PARAMETER "id" is not a parameter of /a'],
  },
  {
    name: 'a path schema by name that lacks a parameter',
    files: {
      'waypost.yml':
        'routes:\n  /a/:id:\n    path: Ids\n    methods: { GET: { public: true, action: src/a.ts } }\nschema:\n  Ids: { type: object, properties: { other: { type: string } } }\n',
    },
    problems: [
      'waypost.yml:3:11 «Ids» WP_DEFINITION_PATH_PARAMETER "other" is not a parameter of /a/:id | Did you mean "id"?',
    ],
  },
  {
    name: 'a path schema of another type',
    files: {
      'waypost.yml':
        'routes:\n  /a/:id:\n    path: { type: string }\n    methods: { GET: { public: true, action: src/a.ts } }\n',
    },
    problems: [
      'waypost.yml:3:11 «{ type: string }» WP_DEFINITION_PARAMETERS_INVALID "path" must be a schema of type object, not of type "string"',
    ],
  },
  {
    name: 'a path parameter that is a list',
    files: {
      'waypost.yml':
        'routes:\n  /a/:id:\n    path: { id: { type: array } }\n    methods: { GET: { public: true, action: src/a.ts } }\n',
    },
    problems: [
      'waypost.yml:3:17 «{ type: array }» WP_DEFINITION_PARAMETERS_INVALID "id" cannot be of type "array": the path contains text',
    ],
  },
  {
    name: 'a path schema that is a list',
    files: {
      'waypost.yml': 'routes:\n  /a/:id:\n    path: [id]\n    methods: { GET: { public: true, action: src/a.ts } }\n',
    },
    problems: [
      'waypost.yml:3:11 «[id]» WP_DEFINITION_VALUE_INVALID "path" must be a map of name to schema, or a schema of type object, not a list',
    ],
  },
  {
    name: 'a query parameter that is an object',
    files: {
      'waypost.yml':
        'routes:\n  /a:\n    methods:\n      GET:\n        public: true\n        action: src/a.ts\n        parameters: { filter: { type: object } }\n',
    },
    problems: [
      'waypost.yml:7:31 «{ type: object }» WP_DEFINITION_PARAMETERS_INVALID "filter" cannot be of type "object": the query contains text',
    ],
  },
  {
    name: 'a query schema of another type by name',
    files: {
      'waypost.yml':
        'routes:\n  /a:\n    methods:\n      GET:\n        public: true\n        action: src/a.ts\n        parameters: Text\nschema:\n  Text: { type: string }\n',
    },
    problems: [
      'waypost.yml:7:21 «Text» WP_DEFINITION_PARAMETERS_INVALID "parameters" must be a schema of type object, not of type "string"',
    ],
  },
  {
    name: 'a public method that changes data without a limit',
    files: {
      'waypost.yml':
        'rate: { r: { limit: 1, window: 1m } }\nroutes:\n  /a: { methods: { POST: { public: true, action: src/a.ts }, PUT: { public: true, rate: r, action: src/a.ts } } }\n',
    },
    problems: [
      'waypost.yml:3:28 «public» warning WP_DEFINITION_PUBLIC_CHANGE POST /a changes data, and anyone can call it without limit | Add scopes: [NAME] and remove public: true, or limit it with rate: NAME',
    ],
  },
  {
    name: 'a private method without a scope',
    files: {
      'waypost.yml':
        'routes:\n  /a:\n    methods:\n      GET: { action: src/a.ts }\n      POST: { action: src/a.ts, scopes: [x] }\n',
    },
    problems: [
      'waypost.yml:4:7 «GET» WP_DEFINITION_SCOPE_MISSING GET /a is private, but has no scope | Add scopes: [NAME] (or [] for any valid token) to the method or its route, or public: true',
    ],
  },
]
