/** Routes that return what their action receives. */
export const yml = `
routes:
  /item/:id/:kind:
    path: { id: { type: integer, minimum: 1 }, kind: { enum: [a, b] } }
    methods:
      GET:
        public: true
        parameters:
          from: { type: integer, default: 0 }
          ratio: { type: number }
          open: { type: boolean, default: true }
          tags: { type: array, items: { type: string }, maxItems: 2 }
          since: { type: string, format: date-time }
        action: src/echo.ts
  /numbers:
    methods:
      GET:
        public: true
        parameters:
          list: { type: array, items: { type: integer } }
          named: { $ref: schema:///Count }
          none: { type: [integer, 'null'] }
          either: { anyOf: [{ type: integer }, { type: 'null' }] }
          loose: { type: [integer, string] }
          a/b: { type: integer }
          text: { type: string }
          texts: { type: array, items: { type: string } }
          any: {}
          price: { type: number, multipleOf: 0.01 }
          prices: { type: array, items: { type: number, multipleOf: 0.01 }, uniqueItems: true }
        action: src/echo.ts
  /nulls:
    methods:
      GET:
        public: true
        parameters:
          type: object
          required: [needed]
          properties:
            needed: { type: [integer, 'null'], minimum: 1 }
            since: { type: [integer, 'null'], default: 3 }
            name: { type: [string, 'null'], minLength: 2 }
            either: { oneOf: [{ type: integer }, { $ref: schema:///Nothing }] }
            choice: { enum: [a, null] }
            text: { type: string }
            any: {}
            count: { type: integer }
            open: { type: boolean }
        action: src/echo.ts
  /free:
    methods:
      GET: { public: true, action: src/echo.ts }
      POST: { public: true, action: src/echo.ts }
      PUT: { public: true, action: src/echo.ts }
      DELETE: { public: true, action: src/echo.ts }
  /todo:
    methods:
      POST: { public: true, request: Todo, action: src/echo.ts }
      DELETE: { public: true, request: Todo, action: src/echo.ts }
  /any:
    methods:
      POST: { public: true, request: {}, action: src/echo.ts }
  /choice/:one:
    path: { one: { anyOf: [{ type: integer }, { enum: [latest] }] } }
    methods:
      GET:
        public: true
        parameters:
          page: { oneOf: [{ type: integer }, { enum: [all] }] }
          open: { oneOf: [{ type: boolean }, { type: string, format: date }] }
          tag: { anyOf: [{ enum: [a, b] }, { type: array, items: { enum: [c, d] } }] }
          ids: { anyOf: [{ type: array, items: { type: integer }, minItems: 2 }, { type: integer }] }
          code: { anyOf: [{ type: integer, maximum: 99 }, { type: string }] }
          multiple: { oneOf: [{ type: integer, multipleOf: 3 }, { type: integer, multipleOf: 5 }] }
          mixed: { type: array, maxItems: 4, items: { anyOf: [{ type: boolean }, { type: number }, { enum: [x] }] } }
          since: { $ref: schema:///Since }
          limited: { type: [integer, 'null'], minimum: 3, anyOf: [{ type: integer }, { type: 'null' }] }
          size: { anyOf: [{ type: integer }, { enum: [full] }], default: full }
          count: { type: integer }
          word: { oneOf: [{ type: integer }, { type: string, enum: [all] }] }
          level: { enum: [1, 2, 3] }
          top: { enum: [10, 0.5, all, true, 'null', null] }
          above: { minimum: 0 }
          flags: { items: { enum: [true, false] }, maxItems: 2 }
        action: src/echo.ts
  /integers:
    methods:
      POST:
        public: true
        request:
          type: object
          properties:
            one: { type: integer }
            list: { type: array, items: { type: integer } }
            either: { type: [integer, string] }
            named: { $ref: schema:///Line }
            number: { type: number }
            small: { type: integer, minimum: 1, maximum: 3 }
        action: src/echo.ts
  /named:
    methods:
      POST:
        public: true
        parameters:
          constructor: { type: string }
          valueOf: { type: integer }
          hasOwnProperty: { type: integer, default: 3 }
        request:
          type: object
          properties: { constructor: { type: string }, valueOf: { type: integer }, toLocaleString: { type: string, default: x } }
        action: src/echo.ts
  /required:
    methods:
      POST:
        public: true
        parameters: { type: object, required: [constructor], properties: { constructor: { type: string } } }
        request: { type: object, required: [toString], properties: { toString: { type: string } } }
        action: src/echo.ts
  /list:
    methods:
      POST: { public: true, request: { type: array, items: { type: integer }, maxItems: 3 }, action: src/echo.ts }
  /order:
    methods:
      POST: { public: true, request: Order, action: src/echo.ts }
      GET: { public: true, parameters: { oneOf: [{ $ref: schema:///Card }, { $ref: schema:///Cash }] }, action: src/echo.ts }
  /nest:
    methods:
      POST: { public: true, request: Nest, action: src/echo.ts }
  /range:
    methods:
      GET: { public: true, parameters: Range, action: src/echo.ts }
  /prices:
    methods:
      POST: { public: true, request: Prices, action: src/echo.ts }
schema:
  Prices:
    type: object
    properties:
      price: { type: number, multipleOf: 0.01 }
      kind: { enum: [{ of: 1 }] }
      set: { type: array, uniqueItems: true, items: { type: object }, maxItems: 9 }
  Todo:
    type: object
    required: [title, content]
    additionalProperties: false
    properties:
      title: { type: string, minLength: 1, maxLength: 64 }
      content: { type: string }
      priority: { type: integer, default: 3 }
  Nest: { type: object, additionalProperties: false, properties: { c: { $ref: schema:///Nest } } }
  Range:
    type: object
    required: [from, to]
    additionalProperties: false
    properties: { from: { $ref: schema:///Day }, to: { $ref: schema:///Day }, step: { type: integer, default: 1 } }
  Day: { type: string, format: date }
  Count: { type: integer, minimum: 1 }
  Order:
    type: object
    required: [status, lines]
    allOf: [{ type: object, required: [note], properties: { note: { type: string, default: none } } }]
    properties:
      status: { type: integer, default: 1 }
      lines: { type: array, maxItems: 9, items: { $ref: schema:///Line } }
      address: { type: object, default: {}, properties: { country: { type: string, default: CH } } }
      labels: { type: object, additionalProperties: { $ref: schema:///Line } }
      constructor: { type: string, default: ours }
      pay: { oneOf: [{ $ref: schema:///Card }, { $ref: schema:///Cash }] }
  Line: { type: object, properties: { count: { type: integer, default: 1 }, next: { $ref: schema:///Line } } }
  Card:
    type: object
    required: [card]
    additionalProperties: false
    properties: { card: { type: string }, currency: { type: string, default: EUR } }
  Cash: { type: object, required: [cash], additionalProperties: false, properties: { cash: { type: number } } }
  Nothing: { type: 'null' }
  Since: { anyOf: [{ $ref: '#/$defs/count' }, { $ref: schema:///Day }], $defs: { count: { type: integer } } }
config: { body_limit: 2kb }
`
