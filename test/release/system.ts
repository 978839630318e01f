import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { sha256 } from '../../src/kit/index.ts'
import type { BuiltRelease, Manifest } from '../../src/release/index.ts'
import { openSystem, type System } from '../../src/store/index.ts'
import { copySystem } from '../support/migrated.ts'

/** Opens a System with Waypost's own tables, deleted on disposal. */
export async function openFreshSystem(url: string): Promise<System & AsyncDisposable> {
  const folder = await mkdtemp(path.join(tmpdir(), 'waypost-release-'))
  const file = `sqlite:${path.join(folder, 'system.db')}`
  await copySystem(file, '')
  const system = await openSystem({ url: url.startsWith('sqlite:') ? file : url, create: true, disposable: true })
  return {
    ...system,
    async [Symbol.asyncDispose]() {
      await system.close()
      await rm(folder, { recursive: true })
    },
  }
}

export const emptyManifest: Manifest = {
  format: 2,
  waypost: '1.0.0',
  routes: [],
  schemas: {},
  connections: {},
  events: {},
  scopes: {},
  cronjobs: {},
  rates: {},
  config: {},
  plugins: [],
  variables: {},
  migrations: [],
  artifacts: {},
}

/** A release of these artifacts. The title makes its id unique. */
export function makeRelease(title: string, ...contents: readonly string[]): BuiltRelease {
  const artifacts = contents.map((content) => ({ hash: sha256(content), content }))
  const sizes = Object.fromEntries(artifacts.map(({ hash, content }) => [hash, content.length]))
  return { manifest: { ...emptyManifest, config: { title }, artifacts: sizes }, artifacts }
}
