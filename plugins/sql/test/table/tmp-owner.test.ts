import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { startPostgres, type TestPostgres } from '../../../../test/support/postgres.ts'
import { fc, runs } from '../../../../test/support/property.ts'
import { openTableApi, users, type TableApi } from '../../../../test/support/table-api.ts'
import { openTicketOptions } from './owner-tables.ts'
import { isLong } from '../../../../test/support/forms.ts'

const names = ['ann', 'bob', 'cid'] as const
type Name = (typeof names)[number]

/** Rows by their position among all rows of the users; some positions have no row. */
const row = fc.nat({ max: 8 })
/** The order of these texts differs between the databases, and `bad` violates a constraint. */
const title = fc.constantFrom('a', 'b', 'B', 'ä', 'bad')
const reference = fc.option(row, { freq: 4 })
const step = fc.record({
  method: fc.constantFrom('GET', 'GET', 'NEXT', 'NEXT', 'POST', 'POST', 'PUT', 'PATCH', 'DELETE'),
  where: fc.constantFrom('ticket', 'note', 'reply', 'mark', 'task', 'ticket/note', 'named'),
  isList: fc.boolean(),
  row,
  parent: row,
  title,
  ticket: reference,
  note: reference,
  version: fc.option(fc.integer({ min: 1, max: 2 }), { nil: undefined }),
  query: fc.nat({ max: 16 }),
  isCsv: fc.boolean(),
  isShort: fc.boolean(),
  /** More rows in the same request, by their titles, each with a reference; or the notes of a new ticket. */
  more: fc.option(fc.array(fc.tuple(title, reference), { maxLength: 3 }), {
    freq: 2,
    nil: undefined,
  }),
})
const all = ['', 'count=true', 'id=ID', 'limit=1', 'any=(id:ID,id:0)&count=true', 'id.not=ID', 'limit=2&id.gt=0']
/** The queries of lists. `ID` is a row of one of the users. */
const queries = {
  ticket: [
    'embed=notes,tasks',
    'title.not=a&embed=notes',
    'any=(title:a,id:ID)&embed=tasks',
    'title=b',
    'embed=notes&limit=1',
    'q=a&count=true',
    'q=-a&embed=notes',
    'q=b*&rank=true',
    'sort=-title&limit=1',
    'sort=title&limit=1&embed=notes',
  ],
  note: [
    'embed=ticket,tasks',
    'ticket.title=a&count=true',
    'any=(ticket.title:b,text:b)',
    'any=(id:ID,ticket.title:a)&embed=tasks',
    'q=a&count=true&limit=1',
    'q=-b&embed=ticket',
  ],
  reply: ['embed=note,marks', 'note.text=a&count=true', 'any=(note.text:b,id:ID)&embed=marks'],
  mark: ['embed=reply', 'reply.text=b&count=true', 'any=(reply.text:a,text:b)&embed=reply'],
  task: [
    'embed=ticket,note',
    'ticket.title=a&count=true',
    'note.text=b&embed=note',
    'any=(ticket.title:b,note.text:a,id:ID)',
    'sort=name&limit=1',
    'sort=-ticket_id,name&limit=1',
  ],
} as const
type Step = typeof step extends fc.Arbitrary<infer Value> ? Value : never

const steps = fc.array(fc.tuple(fc.constantFrom(...names), step), { minLength: 5, maxLength: 40, size: 'max' })

/** Each user begins with two tickets, two notes, a reply, a mark and a task. */
const first = (['ticket', 'ticket', 'note', 'note', 'reply', 'mark', 'task'] as const).flatMap((where, index) =>
  names.map((name): readonly [Name, Step] => [
    name,
    {
      method: 'POST',
      where,
      isList: false,
      row: 0,
      parent: 0,
      title: 'a',
      ticket: index % 2 === 0 ? 0 : 3,
      note: null,
      version: undefined,
      query: 0,
      isCsv: false,
      isShort: false,
      more: undefined,
    },
  ]),
)

/** PostgreSQL compares texts by code points, or as people of a language sort them. */
const databases = [
  { kind: 'sqlite' as const, locale: undefined },
  { kind: 'postgresql' as const, locale: undefined },
  { kind: 'postgresql' as const, locale: 'de-DE' },
].filter(({ kind, locale }) => isLong || (kind === 'postgresql' && locale !== undefined))

/**
 * Sends the steps of three users who know all ids. What one of them gets, and the rows of this one in the end, must be as if
 * the others had not been there. The ids of their rows are the only trace: those of one are fixed by their order here.
 */
for (const { kind, locale } of databases) {
  describe(`rows of three users in five tables, ${kind}${locale === undefined ? '' : ` with the locale ${locale}`}`, () => {
    let postgres: TestPostgres | undefined
    let api: TableApi
    before(async () => {
      if (kind === 'postgresql') postgres = await startPostgres()
      api = await openTableApi(openTicketOptions(kind, await postgres?.createDatabase(locale)))
    })
    after(async () => {
      await api[Symbol.asyncDispose]()
      await postgres?.stop()
    })

    test('no sequence of requests of some lets another read, change, block or detect a row', async () => {
      await fc.assert(
        fc.asyncProperty(steps, fc.constantFrom(...names), async (chosen, watcher) => {
          const all = [...first, ...chosen]
          const together = await play(all, watcher, api)
          const own = all.filter(([name]) => name === watcher)
          assert.deepEqual(together, await play(own, watcher, api))
        }),
        { numRuns: runs(400) },
      )
    })
  })
}

const tables = ['ticket', 'note', 'reply', 'mark', 'task'] as const

const makeIds = (): Ids => ({ ticket: [], note: [], reply: [], mark: [], task: [] })

/** @returns what the watcher sees: the answers, and the own rows in the end */
async function play(all: readonly (readonly [Name, Step])[], watcher: Name, api: TableApi): Promise<unknown> {
  for (const table of tables.toReversed()) await api.execute(`delete from app_${table}`)
  const world: World = {
    api,
    ids: { ann: makeIds(), bob: makeIds(), cid: makeIds() },
    watcher,
    next: new Map(),
  }
  const seen: unknown[] = []
  for (const [name, one] of all) {
    const answer = await send(one, name, world)
    if (name === watcher) seen.push(answer)
  }
  for (const table of tables) {
    const { body } = await api.call(`GET /${table}`, { user: users[watcher], query: { limit: 100, count: true } })
    seen.push(rename(body, world))
  }
  return seen
}

type Ids = Readonly<Record<(typeof tables)[number], number[]>>

interface World {
  readonly api: TableApi
  readonly ids: Readonly<Record<Name, Ids>>
  readonly watcher: Name
  /** The next page of the last list of each user that has one. */
  readonly next: Map<Name, Page>
}

/** An id that no row has. */
const none = 999_999

/** Every third position is a row of the caller; the rows of the others do not exist if they are not there. */
function idOf(table: (typeof tables)[number], position: number, { own, ids }: { own: Name; ids: World['ids'] }) {
  const owner = names[(names.indexOf(own) + position) % names.length]!
  return ids[owner][table][Math.floor(position / names.length)] ?? none
}

interface Page {
  readonly path: string
  readonly query: string
  readonly isCsv: boolean
}

async function send(one: Step, name: Name, world: World): Promise<unknown> {
  if (one.method === 'NEXT') {
    const page = world.next.get(name)
    return page && readPage(page, name, world)
  }
  const { api, ids } = world
  const of = (table: (typeof tables)[number], position: number | null) =>
    position === null ? null : idOf(table, position, { own: name, ids })
  const tableOf = {
    ticket: 'ticket',
    note: 'note',
    task: 'task',
    'ticket/note': 'note',
    named: 'task',
    reply: 'reply',
    mark: 'mark',
  } as const
  const table = tableOf[one.where]
  const base = one.where === 'ticket/note' ? `/ticket/${of('ticket', one.parent)}/note` : `/${one.where}`
  const method = one.where === 'named' ? 'POST' : one.method
  const isList = method === 'POST' || (method === 'GET' && one.isList)
  const bodyOf = (title: string, ticket: number | null) =>
    ({
      ticket: { title },
      note: { ticket_id: of('ticket', ticket ?? one.parent), text: title },
      reply: { note_id: of('note', one.note ?? one.parent), text: title },
      mark: { reply_id: of('reply', one.note ?? one.parent), text: title },
      task: { ticket_id: of('ticket', ticket), note_id: of('note', one.note), shelf_id: null, name: title },
      named: { ticket_id: of('ticket', ticket), note_id: of('note', one.note), name: title },
      'ticket/note': { text: title },
    })[one.where]
  const first = bodyOf(one.title, one.ticket)
  const more = method === 'POST' ? one.more : undefined
  const hasNotes = more !== undefined && one.where === 'ticket' && one.isList
  const body = hasNotes
    ? { ...first, notes: more.map(([text]) => ({ text })) }
    : more === undefined
      ? first
      : [first, ...more.map(([title, ticket]) => bodyOf(title, ticket))]
  const query = queryOf(one, isList, String(of(table, one.row)))
  if (isList && method === 'GET') return readPage({ path: base, query, isCsv: one.isCsv }, name, world)
  const result = await api.call(`${method} ${base}${isList ? '' : `/${of(table, one.row)}`}`, {
    user: users[name],
    ...(['POST', 'PUT', 'PATCH'].includes(method) && { body }),
    ...(method === 'GET' && { query }),
    ...(one.version !== undefined && { headers: { 'if-match': `"${one.version}"` } }),
  })
  if (method === 'POST' && result.status < 300) remember(result.body, ids[name], table)
  return [method, one.where, result.status, result.headers['etag'], rename(result.body, world)]
}

/** Reads a page, and keeps which one is the next. */
async function readPage({ path, query, isCsv }: Page, name: Name, world: World): Promise<unknown> {
  const headers = isCsv ? { accept: 'text/csv' } : {}
  const { status, body, headers: sent } = await world.api.call(`GET ${path}`, { user: users[name], query, headers })
  const link = /^<\?(.*)>/.exec(sent['link'] ?? '')?.[1]
  const next = isCsv ? link : nextOf(body, query)
  if (next !== undefined) world.next.set(name, { path, query: next, isCsv })
  stat(`${isCsv ? "csv" : ""} ${query.includes("after=") ? "after" : ""} ${status}`); const isTable = isCsv && status === 200
  return [path.replaceAll(/\d+/g, 'ID'), status, next !== undefined, rename(isTable ? readCsv(String(body)) : body, world)]
}

function nextOf(body: unknown, query: string): string | undefined {
  const { next } = Object(body) as { readonly next?: string | null }
  if (typeof next !== 'string') return undefined
  const parameters = new URLSearchParams(query)
  parameters.set('after', next)
  return parameters.toString()
}

/** Reads rows whose values need no quotes. */
function readCsv(text: string): readonly object[] {
  const [header = '', ...lines] = text.trimEnd().split('\r\n')
  const columns = header.split(',')
  const toValue = (cell: string) => (cell === '' ? null : /^\d+$/.test(cell) ? Number(cell) : cell)
  return lines.map((line) =>
    Object.fromEntries(line.split(',').map((cell, index) => [columns[index], toValue(cell)])),
  )
}

interface NewRow {
  readonly id: number
  readonly notes?: { readonly entry: readonly NewRow[] }
}

/** Keeps the ids of new rows. */
function remember(body: NewRow | readonly NewRow[], ids: Ids, table: (typeof tables)[number]): void {
  for (const { id, notes } of [body].flat() as readonly NewRow[]) {
    if (!ids[table].includes(id)) ids[table].push(id)
    if (notes !== undefined) remember(notes.entry, ids, 'note')
  }
}

/** Returns the query of a list, or of a row, which only has what is embedded. */
function queryOf({ where, query, isCsv, isShort }: Step, isList: boolean, id: string): string {
  const ofTable = where in queries ? queries[where as keyof typeof queries] : undefined
  const possible: readonly string[] = ofTable === undefined ? all.slice(0, 2) : [...all, ...ofTable]
  const parts = (possible[query % possible.length] ?? '').replaceAll('ID', id).split('&')
  if (!isList) return parts.filter((part) => part.startsWith('embed=')).join('&')
  if (isShort && !parts.some((part) => part.startsWith('limit='))) parts.push('limit=1')
  return parts.filter((part) => !isCsv || !/^(embed|count)=/.test(part)).join('&')
}

/** Replaces ids by their position among those of the user, because sequences also count the rows of others. */
function rename(value: unknown, { ids, watcher }: World): unknown {
  const text = JSON.stringify(value, (key, one: unknown) => {
    const table = key === 'id' ? undefined : key.replace('_id', '')
    if (key === 'next') return one === null ? null : 'more'
    if (typeof one !== 'number' || (table !== undefined && !(table in ids[watcher]))) return one
    const found = (table === undefined ? tables : [table as 'note']).flatMap((name) => {
      const position = ids[watcher][name].indexOf(one)
      return position === -1 ? [] : [`${name} ${position}`]
    })
    // Tables have sequences of their own, so one number can be an id of several.
    return table === undefined ? 'id' : (found[0] ?? `foreign ${one}`)
  })
  return text === undefined ? undefined : (JSON.parse(text) as unknown)
}
const stats: Record<string, number> = {}
function stat(key: string) { stats[key] = (stats[key] ?? 0) + 1 }
process.on('exit', () => console.log(stats))
