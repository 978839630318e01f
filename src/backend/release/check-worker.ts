// A thread that checks one manifest and says what is wrong with it.
import { parentPort, workerData } from 'node:worker_threads'
import type { ClassCatalog } from '../../definition/index.ts'
import { checkManifest, type ManifestProblem } from './check-manifest.ts'

/** What the thread is given. */
export interface CheckTask {
  /** The document, as JSON. */
  readonly text: string
  readonly classes: ClassCatalog
}

const { text, classes } = workerData as CheckTask
const checked = await checkManifest(JSON.parse(text), classes)
const problems: readonly ManifestProblem[] = 'problems' in checked ? checked.problems : []
// oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread, no window
parentPort?.postMessage(problems)
