import pino from 'pino'
import { makeValueRedactor, type Host } from '../host/index.ts'

interface Line {
  readonly level: number
  readonly msg: string
  readonly err?: { readonly message: string; readonly stack: string; readonly statement?: string }
  readonly [field: string]: unknown
}

const plain = new Set(['time', 'pid', 'hostname'])

/** Creates the log of an app under test: readable warnings and errors, with project files in stacks. */
export function makeTestLog({ logSecrets }: Pick<Host, 'logSecrets'>, write: (text: string) => void): pino.Logger {
  const redact = makeValueRedactor(logSecrets)
  return pino({ level: 'warn' }, { write: (line) => write(formatLine(JSON.parse(redact(line)) as Line)) })
}

function formatLine({ level, msg, err, ...rest }: Line): string {
  const fields = Object.entries(rest).flatMap(([name, value]) =>
    plain.has(name) ? [] : [`${name}=${JSON.stringify(value)}`],
  )
  const head = [`${level >= 50 ? 'error' : 'warning'}: ${msg}`, ...fields].join(' ')
  if (err === undefined) return `${head}\n`
  const statement = err.statement === undefined ? '' : `  statement: ${err.statement}\n`
  return `${head}\n${projectPart(err.stack).replaceAll(/^/gm, '  ')}\n${statement}`
}

/** Returns the project's part of a stack. The callers of an action are not useful to its author. */
function projectPart(stack: string): string {
  const lines = stack.split('\n')
  const last = lines.findLastIndex((line) => line.includes('waypost:///'))
  return lines
    .slice(0, last === -1 ? undefined : last + 1)
    .join('\n')
    .replaceAll('waypost:///', '')
}
