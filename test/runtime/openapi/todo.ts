/** The to-do project in one file. */
export const todo = `
routes:
  /todo:
    scopes: [todo]
    methods:
      GET:
        public: true
        description: Lists to-dos
        parameters: { startIndex: { type: integer, default: 0, description: The first }, q: { type: string } }
        response: List
        action: a.ts
      POST: { description: Creates a to-do. It is open then., request: Input, responses: { 201: Todo }, action: a.ts }
  /todo/:todo_id:
    scopes: [todo, admin]
    deprecated: 2027-01-31
    rate: slow
    path: { todo_id: { type: integer } }
    methods:
      DELETE: { responses: { 204: }, action: a.ts }
schema:
  Input:
    type: object
    required: [title]
    properties: { title: { type: string, examples: [Buy milk] }, open: { type: boolean, default: true } }
  Todo: { type: object, properties: { id: { type: integer }, next: { $ref: schema:///Todo } } }
  List: { type: object, properties: { entry: { type: array, items: { $ref: schema:///Todo } } } }
  Unused: { type: string }
rate: { slow: { limit: 10, window: 1m } }
scope: { todo: { description: To change to-dos } }
`
