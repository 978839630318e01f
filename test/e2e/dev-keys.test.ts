// A developer presses keys in a terminal where `waypost dev` runs.
import assert from 'node:assert/strict'
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { chmod, mkdir, readFile, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { test } from 'node:test'
import { checkout } from '../support/cli.ts'
import { makeProject } from '../support/project.ts'
import { until } from '../support/until.ts'

/** Runs a command in a terminal of its own. */
const hasScript = spawnSync('script', ['--version']).status === 0

test(
  'the key b opens the backend in the browser, signed in; q quits',
  { skip: hasScript ? false : 'the program script is not installed' },
  async () => {
    const project = await makeProject()
    const programs = path.join(project.folder, '.waypost/programs')
    const opened = path.join(programs, 'opened')
    await mkdir(programs, { recursive: true })
    await writeFile(path.join(programs, 'xdg-open'), `#!/bin/sh\nprintf '%s' "$1" > '${opened}'\n`)
    await chmod(path.join(programs, 'xdg-open'), 0o755)
    const dev = `'${process.execPath}' '${path.join(checkout, 'bin/run.js')}' dev --port 0`
    const env = { ...process.env, PATH: `${programs}${path.delimiter}${process.env['PATH']}`, TERM: 'xterm', CI: '' }
    const terminal = spawn('script', ['--quiet', '--return', '--command', dev, '/dev/null'], {
      cwd: project.folder,
      env,
      stdio: ['pipe', 'pipe', 'inherit'],
    })
    const ended = once(terminal, 'exit')
    let shown = ''
    terminal.stdout.setEncoding('utf8').on('data', (text: string) => (shown += text))
    try {
      await until('dev is ready', () => /Ready in/.test(shown))
      terminal.stdin.write('b')
      let url = ''
      await until('a browser is opened', async () => {
        url = await readFile(opened, 'utf8').catch(() => '')
        return url !== ''
      })
      const response = await fetch(url, { redirect: 'manual' })
      assert.equal(response.status, 303, url)
      assert.match(response.headers.get('location') ?? '', /\/backend\/ui\/?$/)
      assert.match(response.headers.get('set-cookie') ?? '', /HttpOnly/)
      terminal.stdin.write('q')
      assert.deepEqual(await ended, [0, null])
    } finally {
      terminal.kill()
      await ended
      await project.remove()
    }
  },
)
