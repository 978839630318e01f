import pino from 'pino'

interface Line {
  readonly level: number
  readonly msg: string
  readonly err?: { readonly message: string; readonly stack: string }
  readonly [field: string]: unknown
}

const plain = new Set(['level', 'time', 'pid', 'hostname', 'msg', 'err'])

/** The log of an app under test: warnings and errors, as a person reads them, with the project's files in stacks. */
export function makeTestLog(write: (text: string) => void): pino.Logger {
  return pino({ level: 'warn' }, { write: (line) => write(formatLine(JSON.parse(line) as Line)) })
}

function formatLine(line: Line): string {
  const fields = Object.entries(line).flatMap(([name, value]) =>
    plain.has(name) ? [] : [`${name}=${JSON.stringify(value)}`],
  )
  const stack = line.err?.stack.replaceAll('waypost:///', '').replaceAll(/^/gm, '  ')
  return [`${line.level >= 50 ? 'error' : 'warning'}: ${line.msg} ${fields.join(' ')}`.trimEnd(), stack, '']
    .filter((one) => one !== undefined)
    .join('\n')
}
