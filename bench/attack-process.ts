// A server of `bench/attacks.ts` in its own process. Its rows are such as callers could write before there were limits.
import { openProjectServer } from '../test/support/project-server.ts'
import { startPostgres } from '../test/support/postgres.ts'
import { watchTurns } from './longest-turn.ts'
import { scaled } from './scale.ts'
import type { ServerReport } from './turns.ts'

const mb = 1024 * 1024

/** JSON of 1 MB that is expensive to read. */
export const shapes: Readonly<Record<string, string>> = {
  'deep arrays': `[${Array(6300)
    .fill(`${'['.repeat(80)}${']'.repeat(80)}`)
    .join()}]`,
  'empty objects': `[${Array(340_000).fill('{}').join()}]`,
  'many keys': `{${Array.from({ length: 90_000 }, (_, index) => `"k${index}":1`).join()}}`,
}

/** Rows of each table of JSON: as many as a list of 30 needs. */
export const jsonRows = scaled(30, 2)
/** Rows of the tables of texts, by the length of each. */
export const texts: Readonly<Record<string, number>> = { app_long: mb, app_text: 100 * 1024 }
const textRows = scaled(100, 5)

const tables = [...Object.keys(shapes).map((_, index) => `app_json_${index}`), ...Object.keys(texts)]

const row = '{ type: object, properties: { id: { type: integer }, data: {} } }'
const definition = `
action:
${tables
  .map((table) => {
    const more = table === 'app_text' ? ', limit: { max: 100, max_bytes: 20000000 }' : ''
    return `  ${table}: { class: sql-table, config: { table: ${table}, columns: [id, data], write: [data]${more} } }\n`
  })
  .join('')}
  lenient:
    class: sql-table
    config:
      table: app_json_0
      columns: [id, data]
      write: [data]
      json: { data: { max_bytes: ${mb}, max_depth: 100, max_values: 1000000 } }
routes:
${tables
  .map(
    (
      table,
    ) => `  /${table}: { methods: { GET: { public: true, action: ${table} }, POST: { public: true, action: ${table} } } }
  /declared/${table}:
    methods:
      GET:
        public: true
        response: { type: object, properties: { entry: { type: array, items: ${row} }, next: { type: [string, 'null'] } } }
        action: ${table}
  /query/${table}:
    methods:
      GET:
        public: true
        response: { type: array, items: ${row} }
        action: { class: sql-query, config: { query: 'select id, data from ${table} order by id limit 100' } }
`,
  )
  .join('')}
  /lenient: { methods: { POST: { public: true, action: lenient } } }
  /closed: { methods: { POST: { public: true, request: Closed, action: src/answer.ts } } }
  /alternatives: { methods: { POST: { public: true, request: Alternatives, action: src/answer.ts } } }
schema:
  Closed: { type: object, required: [a], properties: { a: { type: string } }, additionalProperties: false }
  Alternatives: { oneOf: [{ $ref: schema:///Closed }, { type: object, required: [a], properties: { a: { type: integer } }, additionalProperties: false }] }
`

const roles: Readonly<Record<string, () => Promise<string | undefined>>> = {
  sqlite: async () => undefined,
  postgresql: async () => (await startPostgres()).createDatabase(),
}

if (import.meta.main) await serve(await roles[process.argv[2] ?? 'sqlite']!())

async function serve(systemUrl: string | undefined): Promise<void> {
  const columns = tables.map((table) => {
    const type = Object.hasOwn(texts, table) ? 'text' : '{ type: json, null: true }'
    return `  ${table}: { columns: { id: id, data: ${type} } }\n`
  })
  const server = await openProjectServer({
    files: {
      'waypost.yml': definition,
      'migrations/System/20260101-tables.yml': `create_table:\n${columns.join('')}`,
      'src/answer.ts': 'export default class Answer { handle() { return {} } }\n',
    },
    variables: { LOG_LEVEL: 'silent' },
    ...(systemUrl !== undefined && { systemUrl }),
  })
  const insert = async (table: string, data: string, count: number) => {
    for (let one = 0; one < count; one += 1)
      await server.host.system.db
        .insertInto(table as never)
        .values({ data })
        .execute()
  }
  for (const [index, text] of Object.values(shapes).entries()) await insert(`app_json_${index}`, text, jsonRows)
  for (const [table, length] of Object.entries(texts)) await insert(table, 'x'.repeat(length), textRows)
  reportTurns()
  process.send!({ port: server.port } satisfies ServerReport)
}

/** Reports on request the longest turn. */
function reportTurns(): void {
  const takeLongest = watchTurns()
  process.on('message', () => process.send!({ longestMs: takeLongest() }))
}
