import path from 'node:path'
import {
  hideSecretsInUrl,
  formatDiagnostics,
  version,
  type Diagnostic,
  toPrintable,
  wrapWords,
} from '../../src/kit/index.ts'
import type { DevConsole as Console, DevStarted, SuggestedRequest } from '../../src/project/index.ts'
import { describeFailure, formatAnswered, formatLogged, formatMs, nameFiles, margin } from './dev-lines.ts'
import { formatDelivered, formatRan } from './event-lines.ts'
import { formatCurl } from './format-curl.ts'
import { LiveLine } from './live-line.ts'
import { hasColour, paint, plural } from './format.ts'
import { PrintedProblems, PrintedTypeErrors } from './printed-problems.ts'
import { widthOf } from './print-diagnostics.ts'

type News<Method extends keyof Console> = Parameters<Console[Method]>[0]

export interface DevConsoleOptions {
  /** Whether keys are read. */
  readonly hasKeys?: boolean
  /** The URL for debuggers. */
  readonly inspector?: string | undefined
}

interface IssuedToken {
  readonly token: string
  readonly expiresInS: number
}

/** Further ones are probably consequences. */
const maxTypeErrors = 10

/** How long a failure waits for the response of its request, to be shown below it, in milliseconds. */
const maxWaitMs = 1000

/** Prints what happens while `dev` runs: one line per request, delivery or reload. */
export class DevConsole implements Console {
  readonly #options: DevConsoleOptions
  readonly #live = new LiveLine(process.stdout, process.stderr)
  readonly #problems = new PrintedProblems()
  readonly #typeErrors = new PrintedTypeErrors()
  readonly #failures = new Map<string, { readonly error: unknown; readonly timer: NodeJS.Timeout }>()

  constructor(options: DevConsoleOptions = {}) {
    this.#options = options
  }

  started(event: DevStarted): void {
    const { url, user, migration } = event
    const done = [
      ...(migration.applied.length > 0 ? [`${plural(migration.applied.length, 'migration')} applied`] : []),
      ...migration.written.map((file) => `${path.basename(file)} written`),
    ]
    writeLine()
    writeLine(`  waypost ${version}   ${event.project}\n`)
    writeLine(`  API       ${paint('cyan', url)}`)
    for (const address of event.network) writeLine(`  Network   ${paint('cyan', address)}`)
    if (event.docs !== undefined) writeLine(`  Docs      ${paint('cyan', event.docs)}`)
    if (event.backend !== undefined) writeLine(`  Backend   ${paint('cyan', event.backend)}`)
    row('Sign in', `${user.name} / ${user.password}`, '(stored in .waypost/dev.json; has all scopes)')
    row('System', event.target, done.join(', '))
    if (event.envFiles.some((file) => file !== '.env'))
      row('Variables', event.envFiles.join(', '), '(the last one takes precedence)')
    if (event.delivers) row('Events', 'delivered by this process', '(--no-deliver disables this)')
    else writeLine(`  Events    not delivered here; run ${paint('cyan', 'npx waypost event:execute')}`)
    if (this.#options.inspector !== undefined) writeLine(`  Inspect   ${paint('cyan', this.#options.inspector)}`)
    const requests = event.suggestions.map((one) => commandOf(one, { url, user: user.name }))
    if (requests.length > 0) writeLine(`\n  Try       ${requests.join(`\n${' '.repeat(12)}`)}`)
    const keys = [
      'r reload',
      't token',
      ...(event.docs === undefined ? [] : ['d docs']),
      ...(event.backend === undefined ? [] : ['b backend']),
      'q quit',
    ].join('   ')
    const without = event.isServing ? '' : ', without the routes of the project: see its errors below'
    writeLine(`\n  Ready in ${(event.ms / 1000).toFixed(2)} s${without}.${this.#options.hasKeys ? `   ${keys}` : ''}\n`)
  }

  foundWarnings(diagnostics: readonly Diagnostic[]): void {
    const { fresh } = this.#problems.update({ diagnostics }, true)
    if (fresh.length === 0) return
    line(paint('yellow', plural(fresh.length, 'warning')))
    this.#list(fresh)
  }

  answered(answered: News<'answered'>): void {
    const failure = this.#removeFailure(answered.id)
    const width = process.stdout.isTTY ? widthOf(process.stdout) : undefined
    const { method, path, status, user, reason, dropped, aborted } = answered
    const isPoll = ['GET', 'HEAD', 'OPTIONS'].includes(method) && failure === undefined && dropped === undefined
    const key = isPoll ? JSON.stringify([method, path, status, user, reason, aborted]) : undefined
    this.#live.write(key, (times) => withTime(formatAnswered(answered, { width, times })))
    if (failure !== undefined) writeLine(below(describeFailure(failure.error)))
    if (dropped === undefined) return
    const fields = dropped.fields.map((field) => `"${field}"`).join(', ')
    const verb = dropped.fields.length === 1 ? 'is' : 'are'
    const was = verb === 'is' ? 'was' : 'were'
    writeLine(below(`result: ${fields} ${verb} not in the schema and ${was} dropped (${dropped.action})`))
  }

  failed(error: unknown, { id, method, path }: { id: string; method: string; path: string }): void {
    const showAlone = () => {
      this.#removeFailure(id)
      line(`${paint('red', 'error')}  ${method} ${hideSecretsInUrl(path)}   request ${id}`)
      writeLine(below(describeFailure(error)))
    }
    this.#failures.set(id, { error, timer: setTimeout(showAlone, maxWaitMs).unref() })
  }

  unhandledError(error: unknown): void {
    line(`${paint('red', 'error')}  outside of any request; is an await missing?`)
    writeLine(below(describeFailure(error)))
  }

  delivered(attempt: News<'delivered'>): void {
    line(formatDelivered(attempt))
  }

  ranListener(report: News<'ranListener'>): void {
    line(formatRan(report))
    const [, place] = report.reason?.split('\n') ?? []
    if (place !== undefined) writeLine(below(toPrintable(place)))
  }

  ranCronjob({ name, outcome, ms, error }: News<'ranCronjob'>): void {
    line(`cron   ${name}   ${outcome === 'done' ? '' : `${paint('red', 'failed')}   `}${formatMs(ms)}`)
    if (outcome === 'failed') writeLine(below(describeFailure(error)))
  }

  reloaded({ files, ms, diagnostics, migration, isFixed, origin }: News<'reloaded'>): void {
    const done = [
      ...migration.applied.map((one) => `${one.name} applied`),
      ...migration.written.map((file) => `${file} written`),
      ...(isFixed ? ['fixed'] : []),
    ]
    const { fresh, unchangedWarnings } = this.#problems.update({ diagnostics }, files.length === 0)
    line(
      `reload ${nameFiles(files)}   ${[formatMs(ms), ...done, ...(unchangedWarnings === undefined ? [] : [unchangedWarnings])].join(', ')}${nameOrigin(origin)}`,
    )
    this.#list(fresh)
  }

  reloadFailed({ files, diagnostics, error, isServing, origin }: News<'reloadFailed'>): void {
    const { fresh, unchangedErrors, unchangedWarnings } = this.#problems.update(
      { diagnostics, error },
      files.length === 0,
    )
    if (unchangedErrors !== undefined) {
      line(`reload ${nameFiles(files)}: ${toPrintable(unchangedErrors)}${nameOrigin(origin)}`)
      return this.#list(fresh)
    }
    const errors = diagnostics.filter((one) => one.severity === 'error').length
    const what = paint('red', error === undefined ? plural(errors, 'error') : 'error')
    const then = isServing ? 'still serving the last valid version' : 'no routes are served until it is fixed'
    line(
      `reload ${nameFiles(files)}: ${what}, ${then}${unchangedWarnings === undefined ? '' : `, ${unchangedWarnings}`}${nameOrigin(origin)}`,
    )
    if (error !== undefined) writeLine(below(describeFailure(error)))
    this.#list(fresh)
  }

  warned(message: string): void {
    line(`${paint('yellow', 'warning')}  ${message}`)
  }

  checkedTypes(diagnostics: readonly Diagnostic[]): void {
    const { fresh, total, isFixed } = this.#typeErrors.update(diagnostics)
    if (isFixed) line('types  no errors')
    if (fresh.length === 0) return
    const shown = fresh.slice(0, maxTypeErrors)
    const more = fresh.length > shown.length ? `, of which ${shown.length} are shown: waypost validate --types` : ''
    line(`types  ${paint('yellow', plural(total, 'type error'))}${more}`)
    this.#list(shown)
  }

  logged(logged: News<'logged'>): void {
    writeLine(withTime([formatLogged(logged)])) // as the action wrote it
    if (logged.error !== undefined) writeLine(below(describeFailure(logged.error)))
  }

  /** Prints a command with a token, to be pasted into another terminal. */
  showToken({ token, expiresInS }: IssuedToken, session: Pick<DevStarted, 'url' | 'user' | 'suggestions'>): void {
    const { url, user, suggestions } = session
    const request = suggestions.findLast((one) => one.needsToken) ?? suggestions[0] ?? whoAmI
    line(`token  of ${user.name}, for ${formatLifetime(expiresInS)}`)
    writeLine(`${margin}${commandOf({ ...request, needsToken: true }, { url, user: user.name, token }, margin.length)}`)
  }

  /** Prints an empty line when the user presses enter. */
  space(): void {
    writeLine()
  }

  #removeFailure(id: string): { readonly error: unknown } | undefined {
    const found = this.#failures.get(id)
    clearTimeout(found?.timer)
    this.#failures.delete(id)
    return found
  }

  /** Prints problems below their line, with the indentation of its text. */
  #list(diagnostics: readonly Diagnostic[]): void {
    if (diagnostics.length === 0) return
    const width = widthOf(process.stdout) - margin.length
    const text = formatDiagnostics(diagnostics, { colour: hasColour(process.stdout), width }).trimEnd()
    writeLine(`${indent(text)}\n`)
  }
}

/** A route of every project. */
const whoAmI: SuggestedRequest = { method: 'GET', path: '/authorization/whoami', needsToken: true, body: undefined }

function commandOf(request: SuggestedRequest, to: Parameters<typeof formatCurl>[1], column = 12): string {
  const width = widthOf(process.stdout) - column
  return formatCurl(request, { ...to, width })
    .map((part) => paint('cyan', part))
    .join(`\n${' '.repeat(column + 2)}`)
}

function formatLifetime(seconds: number): string {
  return seconds % 3600 === 0 ? plural(seconds / 3600, 'hour') : plural(Math.round(seconds / 60), 'minute')
}

function writeLine(text = ''): void {
  process.stdout.write(`${text}\n`)
}

/**
 * Prints a label, a value and a remark: in a separate column, after two spaces, or below, depending on the width of the
 * terminal.
 */
function row(word: string, what: string, remark: string): void {
  const start = `  ${word.padEnd(10)}${what}`
  const gaps = [start.padEnd(44), `${start}  `].filter((text) => text.endsWith('  '))
  const gap = gaps.find((text) => text.length + remark.length <= widthOf(process.stdout))
  if (remark === '') writeLine(start)
  else writeLine(`${gap ?? `${start}\n${' '.repeat(12)}`}${remark}`)
}

function indent(text: string): string {
  return text.replaceAll(/^(?=.)/gm, margin)
}

/** Prints a line, or several on a narrow terminal. */
function line(text: string): void {
  writeLine(withTime([below(text).slice(margin.length)]))
}

/** Returns lines below the text of an event, in the width of the terminal. */
function below(text: string): string {
  const { columns } = process.stdout
  if (columns === undefined) return indent(text)
  const fit = (one: string) => {
    const words = one.trimStart()
    const start = one.slice(0, one.length - words.length)
    return wrapWords(words, Math.max(20, widthOf(process.stdout) - margin.length - start.length)).map(
      (part) => start + part.trimEnd(),
    )
  }
  return indent(text.split('\n').flatMap(fit).join('\n'))
}

function withTime(lines: readonly string[]): string {
  return `${new Date().toTimeString().slice(0, 8)}  ${lines.join('\n')}`
}

function nameOrigin(origin: 'backend' | undefined): string {
  return origin === undefined ? '' : ` (${origin})`
}
