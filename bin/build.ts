// Builds the package: dist/ from the sources, each plugin against the public API, and the files that editors and the
// launcher read. Does not check types: `npm run check:types` does.
import { spawnSync } from 'node:child_process'
import { existsSync, globSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { Plugin } from '@oclif/core/config'
import { settings } from '@oclif/core/settings'
import { editorSchemaFiles, makeEditorSchema } from '../src/definition/index.ts'
import { collectConfigSchemas } from '../src/build/index.ts'
import { describePlugin, loadBuiltInPlugins } from '../src/plugin/index.ts'
import { writeBackendUi } from './build/backend-ui.ts'
import { bundle } from './build/bundle.ts'
import { rollTypes } from './build/roll-types.ts'
import { writeConstants } from './build/write-constants.ts'
import { writeVendor } from './build/vendor.ts'

const root = path.dirname(import.meta.dirname)
const { version } = JSON.parse(readFileSync(path.join(root, 'package.json'), 'utf8'))

await compile('.', 'tsconfig.build.json', async (fresh) => {
  await writeConstants(root, fresh)
  const bundled = await bundle(fresh)
  await rollTypes(fresh)
  await writeVendor(root, path.join(fresh, 'vendor'), bundled)
  await writeBackendUi(root, path.join(fresh, 'ui'))
  writeBuildInfo(fresh)
})
for (const file of globSync('plugins/*/tsconfig.json', { cwd: root }))
  await compile(path.dirname(file), 'tsconfig.json')
await writeEditorSchemas()
await writeManifest()

/**
 * Compiles to a separate folder and replaces the old one at the end, so that running processes never find a partial
 * build.
 */
async function compile(folder: string, config: string, complete?: (fresh: string) => Promise<void>): Promise<void> {
  const dist = path.join(root, folder, 'dist')
  const [fresh, old] = [`${dist}.${process.pid}`, `${dist}.${process.pid}.old`]
  const tsc = path.join(root, 'node_modules/.bin/tsc')
  const { status } = spawnSync(tsc, ['-p', path.join(root, folder, config), '--outDir', fresh], {
    cwd: root,
    stdio: 'inherit',
  })
  if (status !== 0) {
    rmSync(fresh, { recursive: true, force: true })
    process.exit(1)
  }
  await complete?.(fresh).catch((error: unknown) => {
    rmSync(fresh, { recursive: true, force: true })
    throw error
  })
  if (existsSync(dist)) renameSync(dist, old)
  renameSync(fresh, dist)
  rmSync(old, { recursive: true, force: true })
}

/** The source version: `waypost/<version>@<build>` in the User-Agent of deliveries. */
function writeBuildInfo(dist: string): void {
  writeFileSync(path.join(dist, 'build.json'), `${JSON.stringify({ version, commit: commit() })}\n`)
}

function commit(): string {
  const { status, stdout } = spawnSync('git', ['rev-parse', '--short=12', 'HEAD'], { cwd: root, encoding: 'utf8' })
  return status === 0 ? stdout.trim() : 'unknown'
}

/** The schemas for completion and checks of waypost.yml and the files that it includes in editors. */
async function writeEditorSchemas(): Promise<void> {
  const configs = collectConfigSchemas(
    (await loadBuiltInPlugins()).map(({ plugin }) => ({ catalog: describePlugin(plugin) })),
  )
  for (const file of editorSchemaFiles)
    writeFileSync(path.join(root, file), `${JSON.stringify(makeEditorSchema(configs, file), undefined, 2)}\n`)
}

/** The commands with their flags, so that the launcher only loads the one it runs. */
async function writeManifest(): Promise<void> {
  settings.enableAutoTranspile = false
  const plugin = new Plugin({ root, isRoot: true, ignoreManifest: true, errorOnManifestCreate: true })
  await plugin.load()
  writeFileSync(path.join(root, 'oclif.manifest.json'), JSON.stringify(plugin.manifest))
}
