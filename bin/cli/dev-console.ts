import { formatDiagnostics, isWaypostError, version, type Diagnostic } from '../../src/kit/index.ts'
import type { DevConsole as Console, DevStarted } from '../../src/project/index.ts'
import { formatCurl } from './format-curl.ts'
import { hasColour, paint } from './paint.ts'
import { plural } from './plural.ts'
import { widthOf } from './print-diagnostics.ts'

type News<Method extends keyof Console> = Parameters<Console[Method]>[0]

/** As wide as the time in front of a line. */
const margin = ' '.repeat(10)

/** What `dev` prints while it runs: one line a request, a delivery or a reload. */
export class DevConsole implements Console {
  started(news: DevStarted): void {
    const { url, user, migration } = news
    const done = [
      ...(migration.applied.length > 0 ? [`${plural(migration.applied.length, 'migration')} applied`] : []),
      ...migration.written.map(() => 'tables.ts written'),
    ]
    say()
    say(`  waypost ${version}   ${news.project}\n`)
    say(`  API       ${paint('cyan', url)}`)
    if (news.docs !== undefined) say(`  Docs      ${paint('cyan', news.docs)}`)
    row('Sign in', `${user.name} / ${user.password}`, '(kept in .waypost/dev.json; has every scope)')
    row('System', news.target, done.join(', '))
    if (news.delivers) row('Events', 'delivered here while this runs', '(--no-deliver leaves them to event:execute)')
    else say(`  Events    left to ${paint('cyan', 'npx waypost event:execute')}`)
    const requests = news.suggestions.map((one) => formatCurl(one, { url, user: user.name }))
    if (requests.length > 0) say(`\n  Try       ${requests.map(paintCommand).join(`\n${' '.repeat(12)}`)}`)
    say(`\n  Ready in ${(news.ms / 1000).toFixed(2)} s.\n`)
  }

  answered({ method, path, status, ms, user, dropped }: News<'answered'>): void {
    const known = user === undefined ? '' : `   ${user}`
    line(`${method.padEnd(6)} ${printable(path).padEnd(24)} ${status}   ${formatMs(ms)}${known}`)
    if (dropped === undefined) return
    const fields = dropped.fields.map((field) => `"${field}"`).join(', ')
    const verb = dropped.fields.length === 1 ? 'is' : 'are'
    say(
      `${margin}result: ${fields} ${verb} not in the schema and ${verb === 'is' ? 'was' : 'were'} dropped (${dropped.action})`,
    )
  }

  failed(error: unknown, request: { id: string; method: string; path: string }): void {
    line(`${paint('red', 'error')}  ${request.method} ${printable(request.path)}   request ${request.id}`)
    const text = isWaypostError(error) ? [error.message, error.hint].filter(Boolean).join('\n') : stackOf(error)
    say(text.replaceAll(/^/gm, margin))
  }

  strayed(error: unknown): void {
    line(`${paint('red', 'error')}  outside of every request: is a promise not awaited?`)
    say(stackOf(error).replaceAll(/^/gm, margin))
  }

  delivered({ event, endpoint, outcome, result, attempt }: News<'delivered'>): void {
    const end =
      outcome === 'delivered'
        ? ''
        : `   ${outcome}${outcome === 'retrying' ? `, attempt ${attempt + 1} of 4 follows` : ''}`
    line(`event  ${event} → ${endpoint}   ${result.failure ?? result.status}   ${formatMs(result.latencyMs)}${end}`)
  }

  reloaded({ files, ms, diagnostics, migration, isMended }: News<'reloaded'>): void {
    const done = [
      ...migration.applied.map((one) => `${one.name} applied`),
      ...migration.written.map((file) => `${file} written`),
      ...(isMended ? ['mended'] : []),
    ]
    line(`reload ${listFiles(files)}   ${[formatMs(ms), ...done].join(', ')}`)
    this.#list(diagnostics)
  }

  refused({ files, diagnostics, error, isServing }: News<'refused'>): void {
    const errors = diagnostics.filter((one) => one.severity === 'error').length
    const what = paint('red', error === undefined ? plural(errors, 'error') : 'error')
    const then = isServing ? 'still serving the last good state' : 'no route is served before it is mended'
    line(`reload ${listFiles(files)}: ${what}, ${then}`)
    if (error !== undefined) say(describe(error).replaceAll(/^/gm, margin))
    this.#list(diagnostics)
  }

  warned(message: string): void {
    line(`${paint('yellow', 'warning')}  ${message}`)
  }

  /** Problems below the line that they belong to, as far in as its text. */
  #list(diagnostics: readonly Diagnostic[]): void {
    if (diagnostics.length === 0) return
    const width = widthOf(process.stdout) - margin.length
    const text = formatDiagnostics(diagnostics, { colour: hasColour(process.stdout), width }).trimEnd()
    say(`${text.replaceAll(/^(?=.)/gm, margin)}\n`)
  }
}

function paintCommand(lines: readonly string[]): string {
  return lines.map((line) => paint('cyan', line)).join(`\n${' '.repeat(14)}`)
}

function say(text = ''): void {
  process.stdout.write(`${text}\n`)
}

/** A word, what it is, and a remark: beside it where the terminal is wide enough, else below. */
function row(word: string, what: string, remark: string): void {
  const start = `  ${word.padEnd(10)}${what.padEnd(32)}`
  const fits = start.length + remark.length <= widthOf(process.stdout)
  say(fits ? `${start}${remark}`.trimEnd() : `${start.trimEnd()}\n${' '.repeat(12)}${remark}`)
}

function line(text: string): void {
  say(`${new Date().toTimeString().slice(0, 8)}  ${text}`)
}

/** A path that a caller sent, without what would move the cursor of a terminal. */
function printable(path: string): string {
  return path.slice(0, 200).replaceAll(/[^\x20-\x7E]/g, '?')
}

function formatMs(ms: number): string {
  return ms < 10 ? `${ms.toFixed(1)} ms` : `${ms.toFixed(0)} ms`
}

function listFiles(files: readonly string[]): string {
  if (files.length === 0) return 'the project'
  return files.length <= 2 ? files.join(', ') : `${files[0]} and ${files.length - 1} more`
}

function describe(error: unknown): string {
  if (!isWaypostError(error)) return stackOf(error)
  return error.hint === undefined ? error.message : `${error.message}\n  ${error.hint}`
}

/** The stack as far as it is the project's: what runs below it is of no use to who wrote the action. */
function stackOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  const [first = '', ...frames] = (error.stack ?? error.message).split('\n')
  const own = frames
    .filter((frame) => frame.includes('waypost:///'))
    .map((frame) => frame.replaceAll('waypost:///', ''))
  return [first, ...(own.length > 0 ? own : frames.slice(0, 3))].join('\n')
}
