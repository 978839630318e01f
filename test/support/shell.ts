import { spawnSync } from 'node:child_process'

/** Why commands of a guide cannot be run on this machine, for `skip`; false if they can. */
export const lacksShell: string | false = findLack()

function findLack(): string | false {
  if (spawnSync('bash', ['--version']).status !== 0) return 'needs bash'
  if (spawnSync('openssl', ['version']).status !== 0) return 'needs openssl'
  const { stdout } = spawnSync('curl', ['--version'], { encoding: 'utf8' })
  const [, major = 0, minor = 0] = (/^curl (\d+)\.(\d+)/.exec(stdout ?? '') ?? []).map(Number)
  const knowsJson = major > 7 || (major === 7 && minor >= 82)
  return knowsJson ? false : 'needs curl 7.82 or newer, for --json'
}
