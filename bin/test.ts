// Runs the suite: node bin/test.ts [folder, file or pattern ...] [options of node --test]
import { spawn } from 'node:child_process'
import { statSync } from 'node:fs'
import path from 'node:path'

const root = path.dirname(import.meta.dirname)
const everything = ['test/**/*.test.ts', 'plugins/*/test/**/*.test.ts']
const given = process.argv.slice(2)
const options = given.filter((argument) => argument.startsWith('-'))
const patterns = given.filter((argument) => !argument.startsWith('-')).map(toPattern)

const child = spawn(
  process.execPath,
  [
    '--test',
    '--test-concurrency=2',
    '--test-timeout=180000',
    ...options,
    ...(patterns.length > 0 ? patterns : everything),
  ],
  { cwd: root, stdio: 'inherit' },
)
child.once('exit', (code) => process.exit(code ?? 1))

function toPattern(argument: string): string {
  const stats = statSync(path.join(root, argument), { throwIfNoEntry: false })
  return stats?.isDirectory() === true ? `${argument.replace(/\/$/, '')}/**/*.test.ts` : argument
}
