// Builds the package: dist/ from the sources, each plugin against the published face, what an editor and the launcher
// read beside them.
import { execFileSync, spawnSync } from 'node:child_process'
import { existsSync, globSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { Plugin } from '@oclif/core/config'
import { settings } from '@oclif/core/settings'
import { makeEditorSchema } from '../src/definition/index.ts'

const root = path.dirname(import.meta.dirname)
const { version } = JSON.parse(readFileSync(path.join(root, 'package.json'), 'utf8'))

compile('.', 'tsconfig.build.json')
for (const file of globSync('plugins/*/tsconfig.json', { cwd: root })) compile(path.dirname(file), 'tsconfig.json')
writeBuildInfo()
writeEditorSchema()
await writeManifest()

function compile(folder: string, config: string): void {
  rmSync(path.join(root, folder, 'dist'), { recursive: true, force: true })
  const { status } = spawnSync(path.join(root, 'node_modules/.bin/tsc'), ['-p', path.join(root, folder, config)], {
    cwd: root,
    stdio: 'inherit',
  })
  if (status !== 0) process.exit(1)
}

/** Which sources these are: `waypost/<version>@<build>` in the User-Agent of deliveries. */
function writeBuildInfo(): void {
  writeFileSync(path.join(root, 'dist/build.json'), `${JSON.stringify({ version, commit: commit() })}\n`)
}

function commit(): string {
  if (!existsSync(path.join(root, '.git'))) return 'unknown'
  return execFileSync('git', ['rev-parse', '--short=12', 'HEAD'], { cwd: root, encoding: 'utf8' }).trim()
}

/** What an editor completes and checks waypost.yml with. */
function writeEditorSchema(): void {
  writeFileSync(path.join(root, 'waypost.schema.json'), `${JSON.stringify(makeEditorSchema(), undefined, 2)}\n`)
}

/** The commands with their flags, so that the launcher loads the one it runs and no other. */
async function writeManifest(): Promise<void> {
  settings.enableAutoTranspile = false
  const plugin = new Plugin({ root, isRoot: true, ignoreManifest: true, errorOnManifestCreate: true })
  await plugin.load()
  writeFileSync(path.join(root, 'oclif.manifest.json'), JSON.stringify(plugin.manifest))
}
