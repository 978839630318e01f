import assert from 'node:assert/strict'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { enableCompileCache, getCompileCacheDir } from 'node:module'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { after, test } from 'node:test'
import { Worker } from 'node:worker_threads'
import { makeBareEnvironment } from '../../src/kit/index.ts'

const folder = mkdtempSync(path.join(tmpdir(), 'waypost-cache-'))
after(() => rmSync(folder, { recursive: true, force: true }))

test('a thread that needs no variables caches its compiled code where this process does', async () => {
  enableCompileCache(folder) // unless this process has a cache
  const script = `require('node:worker_threads').parentPort.postMessage([
    require('node:module').getCompileCacheDir(), Object.keys(process.env)])`
  const worker = new Worker(script, { eval: true, env: makeBareEnvironment() })
  const [[cache, names]] = (await once(worker, 'message')) as [[string, string[]]]
  // The folder within it has the flags of V8 in its name, which another test file in this process may have changed.
  assert.equal(path.dirname(cache), path.dirname(getCompileCacheDir()!))
  assert.deepEqual(names, ['NODE_COMPILE_CACHE'])
})
