import assert from 'node:assert/strict'
import fs from 'node:fs'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { syncBuiltinESMExports } from 'node:module'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { after, before, test } from 'node:test'
import type { DevSession } from '../../src/project/dev-options.ts'
import type { ReloadRequest, ReloadResult } from '../../src/project/reloader.ts'
import { reloadOnSave } from '../../src/project/reload-on-save.ts'
import { until } from '../support/until.ts'

const { watch } = fs
let folder: string
before(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'waypost-watches-'))
  await mkdir(path.join(folder, 'src'))
  await writeFile(path.join(folder, 'src/a.ts'), '1')
})
after(async () => {
  useWatch(watch)
  await rm(folder, { recursive: true, force: true })
})

function useWatch(replacement: typeof watch): void {
  fs.watch = replacement
  syncBuiltinESMExports()
}

test('that run out: dev reloads everything once, because it may have missed saves, and polls from then on', async () => {
  const reloads: ReloadRequest[] = []
  const warnings: string[] = []
  const result = { scopes: [], assets: new Set(), state: '', migration: { written: [] }, diagnostics: [] }
  const reloadFiles = async (request: ReloadRequest) => {
    reloads.push(request)
    await request.onServed?.([])
    return result as unknown as ReloadResult
  }
  const session = {
    options: {
      folder,
      variables: {},
      console: { warned: (text: string) => warnings.push(text), reloaded() {}, reloadFailed() {} },
    },
    server: { hold: () => () => undefined, feed: { listen: () => () => undefined }, host: {} },
    draft: { reloaded() {} },
  } as unknown as DevSession
  const watcher = await reloadOnSave(session, { first: await reloadFiles({ changed: undefined }), reloadFiles })
  try {
    await until('the first reload of all files', () => reloads.length === 2)
    useWatch(() => {
      throw Object.assign(new Error('no space left on device, watch'), { code: 'ENOSPC', syscall: 'watch' })
    })
    await mkdir(path.join(folder, 'src/deep'))
    await until('the system watches no more', () => warnings.some((text) => text.includes('max_user_watches')))
    const isOfAll = ({ changed }: ReloadRequest) => changed === undefined
    // The first is for the new folder.
    await until('a reload of all files', () => reloads.slice(2).filter(isOfAll).length === 2)
    // Another size, because the time of this save may be that of the first one on a coarse clock.
    await writeFile(path.join(folder, 'src/a.ts'), '22')
    await until('the save', () => reloads.some(({ changed }) => changed?.has('src/a.ts') === true))
    assert.equal(warnings.length, 1)
  } finally {
    await watcher.close()
  }
})
