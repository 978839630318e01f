import { spawnSync } from 'node:child_process'

/** How to start Node for a child process. */
interface NodeCommand {
  readonly execPath: string
  readonly execArgv: readonly string[]
  /** Whether the operating system ends the process with its parent, even while code blocks it. */
  readonly endsWithParent: boolean
}

/** Returns how to start the process of listeners that may use so many bytes. */
export function nodeCommand(memory: number): NodeCommand {
  const execArgv = nodeOptions(memory)
  const { execPath } = process
  if (!canEndWithParent()) return { execPath, execArgv, endsWithParent: false }
  return { execPath: setpriv, execArgv: [...endWithParent, execPath, ...execArgv], endsWithParent: true }
}

/** By default, Node spends 48 MB on young objects before it collects them. */
export function nodeOptions(memory: number): string[] {
  return [`--max-old-space-size=${Math.ceil(memory / 2 ** 20)}`, '--max-semi-space-size=2']
}

const setpriv = '/usr/bin/setpriv'
const endWithParent = ['--pdeathsig', 'KILL', '--']
const checkMs = 2000

let canEnd: boolean | undefined

/** Linux can, with a program of util-linux, which Alpine does not have. */
function canEndWithParent(): boolean {
  if (process.platform !== 'linux') return false
  canEnd ??= spawnSync(setpriv, [...endWithParent, 'true'], { stdio: 'ignore', timeout: checkMs }).status === 0
  return canEnd
}
