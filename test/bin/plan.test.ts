import assert from 'node:assert/strict'
import { test } from 'node:test'
import { stripVTControlCharacters } from 'node:util'
import { formatPlan, formatPlanMarkdown, describePlanEnd } from '../../bin/cli/index.ts'
import type { DeployPlan } from '../../src/project/index.ts'

type Change = DeployPlan['changes'][number]

const change = (sort: Change['change'], kind: Change['kind'], name: string, ...details: Change['details']): Change => ({
  change: sort,
  kind,
  name,
  details,
  breaking: details.some((detail) => detail.breaking),
  ...(kind === 'route' && sort === 'added' ? { source: 'resources/routes/order.yml:3' } : {}),
})
const is = (text: string) => ({ text, breaking: false })
const breaks = (text: string, ...affects: string[]) => ({
  text,
  breaking: true,
  ...(affects.length ? { affects } : {}),
})

const active = { id: '4f1c9a2e'.padEnd(64, '0'), activatedAt: 0, activatedBy: 'ci', message: 'Add content' }
const plan = {
  id: '9b07d3c5'.padEnd(64, '0'),
  active,
  target: {
    address: 'https://api.example.com',
    flags: ['--url', 'https://api.example.com'],
    servers: ['app-1', 'app-2'].map((name) => ({ name, version: '1.0.0', release: active.id })),
  },
  changes: [
    change('added', 'route', 'GET /order', is('private, scope order')),
    change(
      'changed',
      'route',
      'POST /todo',
      is('code of src/todo/insert.ts'),
      breaks('request: "content" is now required'),
    ),
    change('removed', 'route', 'GET /ping', breaks('callers get 404')),
    change('changed', 'schema', 'Todo', breaks('"a" removed', 'GET /a', 'GET /b', 'GET /c', 'GET /d', 'GET /e')),
    change('added', 'scope', 'order'),
    change('changed', 'setting', 'token_lifetime', is('1h → 30m')),
    change('added', 'variable', 'ORDERS_URL', is('used by connection Orders')),
    change('added', 'migration', 'System/20261121-add-due-date'),
  ],
  breakingChanges: 'warn',
  missingArtifacts: [],
  unheldScopes: ['order'],
  missingVariables: [{ name: 'ORDERS_URL', servers: ['app-2', 'app-3'] }],
  droppedMigrations: [],
  accessWarnings: [],
  olderServers: [],
  overwritten: [],
  changedSinceGit: false,
  filesChanged: false,
  pendingMigrations: ['System/20261121-add-due-date', 'System/20261122-more'],
} as unknown as DeployPlan

/** A stream that is never written to. */
const streamOf = (columns: number, colours: boolean) =>
  ({ columns, isTTY: colours, hasColors: () => colours }) as unknown as NodeJS.WriteStream

test('a plan is as wide as the terminal, and shows the details of each change', () => {
  assert.equal(
    formatPlan({ ...plan, migrates: false }, streamOf(80, false)).join('\n'),
    `  + route      GET  /order            private, scope order
                                      resources/routes/order.yml:3
  ~ route      POST /todo             request: "content" is now
                                      required   BREAKING
                                      code of src/todo/insert.ts
  - route      GET  /ping             callers get 404   BREAKING
  ~ schema     Todo                   "a" removed, for GET /a, GET /b, GET /c
                                      and 2 more   BREAKING
  + scope      order                  no user has it yet:
                                      waypost user:scopes NAME --add order
  ~ setting    token_lifetime         1h → 30m
  + variable   ORDERS_URL             used by connection Orders   not set on
                                      app-2, app-3
  + migration  System/20261121-add-due-date   must run first: add --migrate
    migration  System/20261122-more   must run first: add --migrate`,
  )
  const short = { changes: plan.changes.slice(0, 3) }
  assert.deepEqual(formatPlan(short, streamOf(100, false)), [
    '  + route      GET  /order   private, scope order   resources/routes/order.yml:3',
    '  ~ route      POST /todo    request: "content" is now required   BREAKING',
    '                             code of src/todo/insert.ts',
    '  - route      GET  /ping    callers get 404   BREAKING',
  ])
})

test('colours change no text', () => {
  const coloured = formatPlan(plan, streamOf(80, true))
  assert.notDeepEqual(coloured, formatPlan(plan, streamOf(80, false)))
  assert.deepEqual(coloured.map(stripVTControlCharacters), formatPlan(plan, streamOf(80, false)))
})

test('of a thousand new routes some are shown, and every one that breaks callers or is public', () => {
  const added = Array.from({ length: 1000 }, (_, index) => {
    const one = change('added', 'route', `GET /many/${index}`, is(index === 700 ? 'public' : 'private, scope a'))
    return index === 700 ? { ...one, public: true } : one
  })
  const removed = Array.from({ length: 40 }, (_, index) =>
    change('removed', 'route', `GET /gone/${index}`, breaks('callers get 404')),
  )
  const lines = formatPlan({ changes: [...added, ...removed] }, streamOf(120, false))
  assert.equal(lines.filter((line) => line.includes('BREAKING')).length, 40)
  assert.equal(lines.length, 15 + 1 + 1 + 40)
  assert.match(lines[15]!, /and 984 more/)
  assert.match(lines[16]!, /GET {2}\/many\/700 +public/)
})

test('project texts cannot move the cursor', () => {
  const wicked = change('removed', 'scope', 'a\u001B[2J\u009B1A\nb', is('\u001B]0;x\u0007'))
  // oxlint-disable-next-line no-control-regex -- that is what it is about
  assert.doesNotMatch(formatPlan({ changes: [wicked] }, streamOf(80, false)).join(''), /[\u0000-\u001F\u007F-\u009F]/)
})

test('the command that does exactly that is said', () => {
  assert.match(
    describePlanEnd(plan, { migrate: false }).join('\n'),
    /4 added, 3 changed, 1 removed; 3 break callers\. Nothing was changed on the target\.\n[^]*waypost deploy --url https:\/\/api\.example\.com --migrate --against 4f1c9a2e/,
  )
  const sentence =
    /A deployment is refused until all servers have ORDERS_URL\. Set it first, or add --allow-missing to set it afterwards\./
  const said = describePlanEnd(plan, { migrate: false }).join(' ')
  assert.match(said.replaceAll(/\s+/g, ' '), sentence)
  assert.match(
    formatPlanMarkdown(plan, false).replaceAll(/&#(\d+);/g, (_, code) => String.fromCodePoint(Number(code))),
    sentence,
  )
  const unset = { ...plan, missingVariables: [{ name: 'ORDERS_URL', servers: [] }] }
  assert.doesNotMatch(describePlanEnd(unset, { migrate: false }).join(' '), /refused/)
  const copied = describePlanEnd(plan, { migrate: false, from: 'https://test.example.com' }).join('\n')
  assert.match(copied, /waypost deploy --from https:\/\/test\.example\.com --url https:\/\/api\.example\.com --migrate/)
})

test('in a comment names stay names', () => {
  const wicked = change('added', 'route', 'GET /a|b`c`<img src=x>@team#1[x](http://x)', is('**a** | _b_ @all <!-- c'))
  const text = formatPlanMarkdown({ ...plan, changes: [...plan.changes, wicked] }, true)
  const rows = text.split('\n').filter((line) => line.startsWith('| '))
  assert.ok(
    rows.every((row) => row.split('|').length === 6),
    'each row has four cells',
  )
  const row = rows.find((line) => line.includes('img'))
  assert.doesNotMatch(row!.replaceAll(/<\/?code>/g, '').replaceAll(/&#\d+;/g, ''), /[`<>@*_[\]!]|#1/)
  assert.match(rows[1]!, /BREAKING/, 'what breaks callers stands first')
  assert.match(text, /3 break callers/)
})

test('a comment is short enough for GitHub', () => {
  const changes = Array.from({ length: 5000 }, (_, index) =>
    change('added', 'route', `GET /many/${index}`, is('public')),
  )
  const text = formatPlanMarkdown({ ...plan, changes }, false)
  assert.ok(text.length < 60_000)
  assert.match(text, /and \d+ more/)
})
