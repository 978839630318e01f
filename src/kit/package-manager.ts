import { existsSync } from 'node:fs'
import path from 'node:path'
import { readJsonFile } from './encoding.ts'

export type PackageManager = 'npm' | 'pnpm' | 'yarn' | 'bun'

const lockFiles: readonly (readonly [file: string, manager: PackageManager])[] = [
  ['pnpm-lock.yaml', 'pnpm'],
  ['pnpm-workspace.yaml', 'pnpm'],
  ['yarn.lock', 'yarn'],
  ['bun.lock', 'bun'],
  ['bun.lockb', 'bun'],
  ['package-lock.json', 'npm'],
]

/**
 * Returns the package manager of a folder: the one that started this process, else the one that the nearest
 * `packageManager` field or lock file names. `npx` is also used where another one manages a project, so npm comes last.
 * @param agent the variable `npm_config_user_agent`, which package managers set
 */
export function findPackageManager(folder: string, agent: string | undefined): PackageManager {
  const started = parseManager(agent?.split('/', 1)[0])
  if (started !== undefined && started !== 'npm') return started
  for (let at = folder; ; at = path.dirname(at)) {
    const named = parseManager(readField(at)?.split('@', 1)[0])
    const [, locked] = lockFiles.find(([file]) => existsSync(path.join(at, file))) ?? []
    const found = named ?? locked
    if (found !== undefined) return found
    if (at === path.dirname(at)) return 'npm'
  }
}

function parseManager(name: string | undefined): PackageManager | undefined {
  return name === 'npm' || name === 'pnpm' || name === 'yarn' || name === 'bun' ? name : undefined
}

function readField(folder: string): string | undefined {
  try {
    const { packageManager } = readJsonFile(path.join(folder, 'package.json')) as { packageManager?: unknown }
    return typeof packageManager === 'string' ? packageManager : undefined
  } catch {
    return undefined
  }
}

/** Returns a text whose commands for npm are those of another package manager. */
export function spellCommands(text: string, manager: PackageManager): string {
  if (manager === 'npm') return text
  const exec = { pnpm: 'pnpm exec', yarn: 'yarn', bun: 'bunx' }[manager]
  const dev = { pnpm: 'pnpm add --save-dev', yarn: 'yarn add --dev', bun: 'bun add --dev' }[manager]
  return text
    .replaceAll(/\bnpx (?=waypost\b)/g, `${exec} `)
    .replaceAll(/\bnpm install --save-dev(?= )/g, dev)
    .replaceAll(/\bnpm install(?= [\w@.])(?! in )/g, `${manager} add`)
    .replaceAll(/\bnpm install\b/g, `${manager} install`)
    .replaceAll(/\bnpm run (?=\w)/g, `${manager} run `)
    .replaceAll(/\bnpm (?=test\b|start\b)/g, `${manager} run `)
}
