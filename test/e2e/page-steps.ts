import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { chmodSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { promisify } from 'node:util'
import { checkout, cleanEnvironment } from '../support/cli.ts'
import type { TestProject } from '../support/project.ts'

const run = promisify(execFile)

/** Lines of a page that are run, and what it shows below them. */
export interface PageStep {
  readonly name: string
  readonly command: string
  /** Language of what is shown. */
  readonly kind: string
  readonly shown: string
}

interface Output {
  readonly stdout: string
  readonly stderr: string
}

/** The blocks of a page in `sh`, in order. */
export function readSteps(file: string): readonly PageStep[] {
  const page = readFileSync(path.join(checkout, file), 'utf8')
  const steps = [...page.matchAll(/^```sh\n([^]*?)^```\n(?:```(\w+)\n([^]*?)^```\n)?/gm)].map(
    ([, command = '', kind = 'text', shown = '']) => ({ name: describeCommand(command), command, kind, shown }),
  )
  assert.equal(steps.length, page.split('\n```sh\n').length - 1)
  return steps
}

/**
 * Runs all steps in one shell in the folder of a project.
 * @param places what the page names, and what stands there in this run
 * @returns what each step printed, as the page would show it
 */
export async function runSteps(
  project: TestProject,
  steps: readonly PageStep[],
  places: Readonly<Record<string, string>>,
): Promise<readonly string[]> {
  // What npm would put there.
  await project.write('path/npx', `#!/bin/sh\nshift\nexec node ${path.join(checkout, 'bin/run.js')} "$@"\n`)
  chmodSync(path.join(project.folder, 'path/npx'), 0o755)
  const translate = (text: string) =>
    Object.entries(places).reduce((all, [shown, real]) => all.replaceAll(shown, real), text)
  const script = steps.map(({ command }) => `${translate(command)}\nprintf '\\036'\n`).join('')
  const env = cleanEnvironment()
  env['PATH'] = `${project.folder}/path${path.delimiter}${env['PATH']}`
  const { stdout, stderr } = await run('bash', ['-eu', '-c', `trap 'kill $(jobs -p) 2>&-' EXIT\n${script}`], {
    cwd: project.folder,
    env,
  }).catch((error: Output) => error)
  const printed = [...stdout.split('\x1e').slice(0, -1), `nothing any more; the shell said\n${stderr}`]
  return printed.map((text) =>
    Object.entries(places).reduce(
      (all, [shown, real]) =>
        all.replaceAll(real, shown).replaceAll(encodeURIComponent(real), encodeURIComponent(shown)),
      text,
    ),
  )
}

/** How what was printed is compared with what is shown, by the language of that. */
export const comparePrinted: Readonly<Record<string, (answer: string, shown: string) => void>> = {
  text: (answer, shown) => assertLike(alignTable(answer.trimEnd()), alignTable(shown.trimEnd())),
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

/** The first line that asks for something. */
function describeCommand(command: string): string {
  const lines = command.split('\n')
  return (lines.find((line) => /curl|npx|shop |echo/.test(line)) ?? lines[0] ?? '').slice(0, 90)
}

/** Columns are as wide as what stands in them. */
function alignTable(text: string): string {
  return text.replaceAll(/(?<=\S) {2,}/g, '  ')
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
