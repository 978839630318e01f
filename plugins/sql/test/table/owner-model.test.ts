import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { startPostgres, type TestPostgres } from '../../../../test/support/postgres.ts'
import { fc, runs } from '../../../../test/support/property.ts'
import { openTableApi, users, type TableApi } from '../../../../test/support/table-api.ts'
import { openTicketOptions } from './owner-tables.ts'
import { chooseKinds } from '../../../../test/support/forms.ts'

/** Rows by their position among all rows of both users; some positions have no row. */
const row = fc.nat({ max: 5 })
const reference = fc.option(row, { freq: 4 })
const step = fc.record({
  method: fc.constantFrom('GET', 'GET', 'POST', 'POST', 'PUT', 'PATCH', 'DELETE'),
  where: fc.constantFrom('ticket', 'note', 'reply', 'mark', 'task', 'ticket/note', 'named'),
  isList: fc.boolean(),
  row,
  parent: row,
  title: fc.constantFrom('a', 'b', 'bad'),
  ticket: reference,
  note: reference,
  version: fc.option(fc.integer({ min: 1, max: 2 }), { nil: undefined }),
  query: fc.nat({ max: 13 }),
  /** More rows in the same request, by their titles, each with a reference; or the notes of a new ticket. */
  more: fc.option(fc.array(fc.tuple(fc.constantFrom('a', 'b', 'bad', 'c'), reference), { maxLength: 3 }), {
    freq: 2,
    nil: undefined,
  }),
})
const all = ['', 'count=true', 'id=ID', 'limit=1', 'any=(id:ID,id:0)&count=true', 'id.not=ID']
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
  ],
} as const
type Step = typeof step extends fc.Arbitrary<infer Value> ? Value : never

const steps = fc.array(fc.tuple(fc.boolean(), step), { minLength: 5, maxLength: 25 })

/** Each user begins with two tickets, two notes, a reply, a mark and a task. */
const first = (['ticket', 'ticket', 'note', 'note', 'reply', 'mark', 'task'] as const).flatMap((where, index) =>
  [true, false].map((isAnn): readonly [boolean, Step] => [
    isAnn,
    {
      method: 'POST',
      where,
      isList: false,
      row: 0,
      parent: 0,
      title: 'a',
      ticket: index % 2 === 0 ? 0 : 2,
      note: null,
      version: undefined,
      query: 0,
      more: undefined,
    },
  ]),
)

/**
 * Sends the steps of Ann, and between them those of Bob, who knows all ids. What Ann gets, and her rows in the end, must be
 * as if Bob had not been there. The ids of his rows are the only trace: hers are fixed by their order here.
 */
for (const kind of chooseKinds('postgresql')) {
  describe(`rows of two users in five tables, ${kind}`, () => {
    let postgres: TestPostgres | undefined
    let api: TableApi
    before(async () => {
      if (kind === 'postgresql') postgres = await startPostgres()
      api = await openTableApi(openTicketOptions(kind, await postgres?.createDatabase()))
    })
    after(async () => {
      await api[Symbol.asyncDispose]()
      await postgres?.stop()
    })

    test('no sequence of requests of one lets another read, change, block or detect a row', async () => {
      await fc.assert(
        fc.asyncProperty(steps, async (chosen) => {
          const all = [...first, ...chosen]
          const together = await play(all, api)
          const alone = await play(
            all.filter(([isAnn]) => isAnn),
            api,
          )
          assert.deepEqual(together, alone)
        }),
        { numRuns: runs(400) },
      )
    })
  })
}

const tables = ['ticket', 'note', 'reply', 'mark', 'task'] as const

const makeIds = (): Ids => ({ ticket: [], note: [], reply: [], mark: [], task: [] })

/** @returns what Ann sees: her answers, and her rows in the end */
async function play(all: readonly (readonly [boolean, Step])[], api: TableApi): Promise<unknown> {
  for (const table of tables.toReversed()) await api.execute(`delete from app_${table}`)
  const world: World = {
    api,
    ids: { ann: makeIds(), bob: makeIds() },
  }
  const seen: unknown[] = []
  for (const [isAnn, one] of all) {
    const answer = await send(one, isAnn ? 'ann' : 'bob', world)
    if (isAnn) seen.push(answer)
  }
  for (const table of tables) {
    const { body } = await api.call(`GET /${table}`, { user: users.ann, query: { limit: 100, count: true } })
    seen.push(rename(body, world))
  }
  return seen
}

type Ids = Readonly<Record<(typeof tables)[number], number[]>>

interface World {
  readonly api: TableApi
  readonly ids: Readonly<Record<'ann' | 'bob', Ids>>
}

/** An id that no row has. */
const none = 999_999

/** Even positions are rows of the caller, odd ones rows of the other user, which do not exist if that user is not there. */
function idOf(
  table: (typeof tables)[number],
  position: number,
  { own, ids }: { own: 'ann' | 'bob'; ids: World['ids'] },
) {
  const owner = position % 2 === 0 ? own : own === 'ann' ? 'bob' : 'ann'
  return ids[owner][table][Math.floor(position / 2)] ?? none
}

async function send(one: Step, name: 'ann' | 'bob', world: World): Promise<unknown> {
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
  const result = await api.call(`${method} ${base}${isList ? '' : `/${of(table, one.row)}`}`, {
    user: users[name],
    ...(['POST', 'PUT', 'PATCH'].includes(method) && { body }),
    ...(method === 'GET' && { query: queryOf(one, isList, String(of(table, one.row))) }),
    ...(one.version !== undefined && { headers: { 'if-match': `"${one.version}"` } }),
  })
  if (method === 'POST' && result.status < 300) remember(result.body, ids[name], table)
  return [method, one.where, result.status, result.headers['etag'], rename(result.body, world)]
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
function queryOf({ where, query }: Step, isList: boolean, id: string): string {
  const ofTable = where in queries ? queries[where as keyof typeof queries] : undefined
  const possible: readonly string[] = ofTable === undefined ? all.slice(0, 2) : [...all, ...ofTable]
  const text = (possible[query % possible.length] ?? '').replaceAll('ID', id)
  return isList
    ? text
    : text
        .split('&')
        .filter((part) => part.startsWith('embed='))
        .join('&')
}

/** Replaces ids by their position among those of the user, because sequences also count the rows of others. */
function rename(value: unknown, { ids }: World): unknown {
  const text = JSON.stringify(value, (key, one: unknown) => {
    const table = key === 'id' ? undefined : key.replace('_id', '')
    if (key === 'next') return one === null ? null : 'more'
    if (typeof one !== 'number' || (table !== undefined && !(table in ids.ann))) return one
    const found = (table === undefined ? tables : [table as 'note']).flatMap((name) => {
      const position = ids.ann[name].indexOf(one)
      return position === -1 ? [] : [`${name} ${position}`]
    })
    // Tables have sequences of their own, so one number can be an id of several.
    return table === undefined ? 'id' : (found[0] ?? `foreign ${one}`)
  })
  return text === undefined ? undefined : (JSON.parse(text) as unknown)
}
