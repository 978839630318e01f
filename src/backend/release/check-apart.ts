import { Worker } from 'node:worker_threads'
import { urlOfModule } from '../../kit/index.ts'
import type { ManifestProblem } from './check-manifest.ts'
import type { CheckTask } from './check-worker.ts'

export interface ApartLimits {
  readonly timeoutMs?: number
  readonly memoryMb?: number
}

/**
 * Checks a manifest in a thread of its own: whoever may look at a server may send documents that take long, and nobody
 * else must wait for that. What takes longer or more memory than any project needs is a problem too.
 */
export async function checkApart(
  task: CheckTask,
  { timeoutMs = 15_000, memoryMb = 512 }: ApartLimits = {},
): Promise<readonly ManifestProblem[]> {
  const worker = new Worker(urlOfModule('src/backend/release/check-worker'), {
    workerData: task,
    env: {}, // it needs no variable
    execArgv: [],
    resourceLimits: { maxOldGenerationSizeMb: memoryMb },
  })
  const { promise, resolve, reject } = Promise.withResolvers<readonly ManifestProblem[]>()
  const refuse = (message: string) => resolve([{ path: '', message }])
  const timer = setTimeout(() => refuse(`takes longer than ${timeoutMs / 1000} s to check`), timeoutMs)
  worker.once('message', resolve)
  worker.once('error', (error: NodeJS.ErrnoException) => {
    if (error.code === 'ERR_WORKER_OUT_OF_MEMORY') refuse('takes too much memory to check')
    else reject(error)
  })
  worker.once('exit', (code) => reject(new Error(`The thread that checks a manifest ended with ${code}`)))
  try {
    return await promise
  } finally {
    clearTimeout(timer)
    await worker.terminate()
  }
}
