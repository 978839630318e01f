// docs/oauth.md shows what its lines print: they are run in order, in one shell, beside a new project that `dev` serves.
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { chmodSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { after, before, describe, it } from 'node:test'
import { promisify } from 'node:util'
import { checkout, cleanEnvironment, type RunningCli } from '../support/cli.ts'
import { makeProject, type TestProject } from '../support/project.ts'
import { lacksShell } from '../support/shell.ts'

const run = promisify(execFile)
const page = readFileSync(path.join(checkout, 'docs/oauth.md'), 'utf8')
const pageUrl = 'http://localhost:3000'

interface Output {
  readonly stdout: string
  readonly stderr: string
}

interface Step {
  readonly name: string
  readonly command: string
  readonly kind: string
  readonly shown: string
}

const steps: readonly Step[] = [...page.matchAll(/^```sh\n([^]*?)^```\n(?:```(\w+)\n([^]*?)^```\n)?/gm)].map(
  ([, command = '', kind = 'text', shown = '']) => ({ name: describeCommand(command), command, kind, shown }),
)

describe('docs/oauth.md', { skip: lacksShell }, () => {
  let project: TestProject
  let dev: RunningCli
  let url = ''
  let printed: readonly string[] = []

  before(async () => {
    project = await makeProject()
    // The shell starts many processes, which takes its time where others are at work.
    const patient = '\nconfig: { refresh_grace: 1h, code_lifetime: 10m }\n'
    await project.write('waypost.yml', (await project.read('waypost.yml')) + patient)
    dev = project.start('dev --no-deliver --port 0')
    const [, port] = await dev.waitFor(/http:\/\/localhost:(\d+)[^]*Ready in/, 30_000)
    url = `http://localhost:${port}`
    // What npm would put there.
    await project.write('path/npx', `#!/bin/sh\nshift\nexec node ${path.join(checkout, 'bin/run.js')} "$@"\n`)
    chmodSync(path.join(project.folder, 'path/npx'), 0o755)
    const script = steps.map(({ command }) => `${command.replaceAll(pageUrl, url)}\nprintf '\\036'\n`).join('')
    const env = cleanEnvironment()
    env['PATH'] = `${project.folder}/path${path.delimiter}${env['PATH']}`
    const { stdout, stderr } = await run('bash', ['-eu', '-c', script], { cwd: project.folder, env }).catch(
      (error: Output) => error,
    )
    printed = [...stdout.split('\x1e').slice(0, -1), `nothing any more; the shell said\n${stderr}`]
  })
  after(async () => {
    await dev?.stop()
    await project?.remove()
  })

  for (const [index, { name, kind, shown }] of steps.entries()) {
    it(`shows what is printed by ${name}`, () => {
      const answer = (printed[index] ?? 'nothing')
        .replaceAll(url, pageUrl)
        .replaceAll(encodeURIComponent(url), encodeURIComponent(pageUrl))
      compare[kind]!(answer, shown)
    })
  }

  it('has an answer to what each flow prints', () => {
    assert.equal(steps.length, page.split('\n```sh\n').length - 1)
    assert.deepEqual(
      steps.filter(({ shown, kind }) => shown === '' || !(kind in compare)).map(({ name }) => name),
      [],
    )
  })

  it('names the versions that the suite runs', () => {
    const rows = [...page.matchAll(/^\| ([\w-]+) \| (\d+\.\d+\.\d+) \|/gm)]
    assert.equal(rows.length, 4)
    for (const [, client = '', version] of rows) {
      const file = path.join(checkout, 'node_modules', client, 'package.json')
      assert.equal(JSON.parse(readFileSync(file, 'utf8')).version, version, client)
    }
  })
})

const compare: Readonly<Record<string, (answer: string, shown: string) => void>> = {
  text: (answer, shown) => assertLike(answer.trimEnd(), shown.trimEnd()),
  json: compareJson,
  http(answer, shown) {
    const [head = '', body = ''] = splitOnce(answer.replaceAll('\r\n', '\n'), '\n\n')
    const [shownHead = '', shownBody = ''] = splitOnce(shown, '\n\n')
    const lines = head.split('\n').map((line) => line.trim())
    for (const line of shownHead.split('\n')) {
      const isThere = lines.some((one) => patternOf(line).test(one))
      assert.ok(isThere, `there is no "${line}" in\n${head}`)
    }
    compareJson(body, shownBody)
  },
}

function compareJson(answer: string, shown: string): void {
  assertLike(squeeze(answer), squeeze(shown))
}

/** JSON without the space between its parts. */
function squeeze(json: string): string {
  return json.replaceAll(/("(?:[^"\\]|\\.)*")|\s+/g, '$1')
}

function assertLike(answer: string, shown: string): void {
  assert.ok(patternOf(shown).test(answer), `printed\n${answer}\nand shown is\n${shown}`)
}

/** The sign stands for a part of one word: an id, a token, a number. */
function patternOf(shown: string): RegExp {
  const parts = shown.split('…').map((part) => part.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&'))
  return new RegExp(`^${parts.join('[^\\s"&,]+')}$`)
}

function splitOnce(text: string, separator: string): readonly string[] {
  const at = text.indexOf(separator)
  return at < 0 ? [text] : [text.slice(0, at), text.slice(at + separator.length)]
}

/** The first line that asks for something. */
function describeCommand(command: string): string {
  const lines = command.split('\n')
  return (lines.find((line) => /curl|npx|shop |echo/.test(line)) ?? lines[0] ?? '').slice(0, 90)
}
