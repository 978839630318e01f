import type pino from 'pino'
import type { Logger } from '../runtime/index.ts'
import { errorSerializers, logSafely } from './make-logger.ts'
import { makeRedactor } from './redact-line.ts'

const maxLine = 2000
const maxMessage = 500
/** Of the first lines, and the same of the last ones. */
const maxPart = 8000

/** The last log lines of a run, which are kept with it. */
export interface KeptLog {
  /** Writes to the log of the process, and keeps what it writes. */
  readonly logger: Logger
  /** Lines of JSON; null without any. Of long logs, the first and the last lines. */
  text(): string | null
}

const methods = ['trace', 'debug', 'info', 'warn', 'error', 'fatal'] as const

/** Returns a function that keeps what a logger writes, from `info` on, without secrets. It calls `onLine` after each line. */
export async function openLogKeeper(
  secrets: ReadonlySet<string>,
): Promise<(logger: Logger, onLine?: (kept: KeptLog) => void) => KeptLog> {
  const { default: makePino } = await import('pino')
  const options: pino.LoggerOptions = {
    level: 'info',
    base: null,
    serializers: errorSerializers,
    hooks: { streamWrite: makeRedactor(secrets), logMethod: logSafely },
  }
  return (logger, onLine) => {
    const lines = new Lines()
    const kept = { logger, text: () => lines.text() }
    const write = (line: string) => {
      lines.add(cut(line.trimEnd()))
      onLine?.(kept)
    }
    let opened: pino.Logger | undefined // most runs log nothing
    for (const name of methods) {
      const own = logger[name].bind(logger)
      logger[name] = (...line: Parameters<typeof own>) => {
        own(...line)
        opened ??= makePino(options, { write })
        opened[name](...line)
      }
    }
    return kept
  }
}

function cut(line: string): string {
  if (line.length <= maxLine) return line
  const { level, time, msg } = parse(line)
  return JSON.stringify({
    level: typeof level === 'number' ? level : 30, // a field of the line may have the same name
    time: typeof time === 'number' ? time : Date.now(),
    msg: typeof msg === 'string' ? msg.slice(0, maxMessage) : '',
    cut: line.length,
  })
}

/** A secret of digits may have been redacted in a number. */
function parse(line: string): Readonly<Record<string, unknown>> {
  try {
    return JSON.parse(line) as Readonly<Record<string, unknown>>
  } catch {
    return { msg: line }
  }
}

/** The first and the last of many lines. */
class Lines {
  readonly #first: string[] = []
  #last: string[] = []
  #firstSize = 0
  #lastSize = 0
  #left = 0

  add(line: string): void {
    const size = line.length + 1
    if (this.#last.length === 0 && this.#firstSize + size <= maxPart) {
      this.#first.push(line)
      this.#firstSize += size
      return
    }
    this.#last.push(line)
    this.#lastSize += size
    while (this.#lastSize > maxPart) {
      this.#lastSize -= this.#last.shift()!.length + 1
      this.#left++
    }
  }

  text(): string | null {
    const gap = this.#left === 0 ? [] : [JSON.stringify({ left: this.#left })]
    return [...this.#first, ...gap, ...this.#last].join('\n') || null
  }
}
