// Builds the package into dist/: the CLI and the rooms, then each plugin against their published face.
import { spawnSync } from 'node:child_process'
import { globSync, rmSync } from 'node:fs'
import path from 'node:path'

const root = path.dirname(import.meta.dirname)

compile('.', 'tsconfig.build.json')
for (const file of globSync('plugins/*/tsconfig.json', { cwd: root })) compile(path.dirname(file), 'tsconfig.json')

function compile(folder: string, config: string): void {
  rmSync(path.join(root, folder, 'dist'), { recursive: true, force: true })
  run(path.join(root, 'node_modules/.bin/tsc'), ['-p', path.join(root, folder, config)])
}

function run(command: string, args: readonly string[]): void {
  const { status } = spawnSync(command, args, { cwd: root, stdio: 'inherit' })
  if (status !== 0) process.exit(1)
}
