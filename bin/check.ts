// `npm run check`: builds, then runs the scripts check:* of package.json, as many at a time as there are processors. Prints
// only the output of those that fail.
import { spawn, spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import path from 'node:path'

const root = path.dirname(import.meta.dirname)
const { scripts } = JSON.parse(readFileSync(path.join(root, 'package.json'), 'utf8')) as {
  readonly scripts: Readonly<Record<string, string>>
}
const waiting = Object.keys(scripts).filter((name) => name.startsWith('check:'))
const failed: string[] = []

// First, because types and links between packages come from the build.
const { status } = spawnSync('npm', ['run', 'build'], { cwd: root, stdio: 'inherit' })
if (status !== 0) process.exit(1)
await Promise.all(Array.from({ length: availableParallelism() }, runInTurn))
if (failed.length > 0) process.stdout.write(`\nFailed: ${failed.join(', ')}\n`)
process.exitCode = failed.length === 0 ? 0 : 1

async function runInTurn(): Promise<void> {
  for (let name = waiting.shift(); name !== undefined; name = waiting.shift()) {
    const start = performance.now()
    const { ok, output } = await runScript(name)
    const seconds = ((performance.now() - start) / 1000).toFixed(0)
    process.stdout.write(ok ? `✔ ${name} (${seconds} s)\n` : `\n✖ ${name} (${seconds} s)\n${output}\n`)
    if (!ok) failed.push(name)
  }
}

function runScript(name: string): Promise<{ readonly ok: boolean; readonly output: string }> {
  const child = spawn('npm', ['run', '--silent', name], { cwd: root, stdio: ['ignore', 'pipe', 'pipe'] })
  let output = ''
  for (const stream of [child.stdout, child.stderr]) stream.setEncoding('utf8').on('data', (text) => (output += text))
  return new Promise((resolve, reject) => {
    child.once('error', reject)
    child.once('close', (code) => resolve({ ok: code === 0, output }))
  })
}
