import { State, type Tone } from './badge.tsx'
import { clockOf } from './time.tsx'
import { logTexts as texts } from './run-texts.ts'

interface Line {
  readonly level: number
  readonly time: number
  readonly msg: string
  readonly fields: Readonly<Record<string, unknown>>
}

const levels: readonly (readonly [from: number, name: string, tone: Tone])[] = [
  [50, 'error', 'bad'],
  [40, 'warn', 'warn'],
  [30, 'info', 'info'],
  [0, 'debug', 'quiet'],
]

/** What the action of a run logged. */
export function RunLog({ log }: { readonly log: string | null }) {
  return (
    <section className="stack">
      <h2>{texts.title}</h2>
      {log === null ? (
        <p className="soft">{texts.empty}</p>
      ) : (
        <ol className="log" tabIndex={0} aria-label={texts.title}>
          {log.split('\n').map((text, index) => (
            <LogLine key={index} text={text} />
          ))}
        </ol>
      )}
      <p className="soft">{texts.hint}</p>
    </section>
  )
}

function LogLine({ text }: { readonly text: string }) {
  const line = readLine(text)
  if (typeof line === 'number') return <li className="soft log-gap">{texts.left(line)}</li>
  if (line === undefined)
    return (
      <li>
        <span className="log-text">{text}</span>
      </li>
    )
  const [, name, tone] = levels.find(([from]) => line.level >= from)!
  return (
    <li>
      <time className="soft" dateTime={new Date(line.time).toISOString()}>
        {clockOf(line.time)}
      </time>
      <State tone={tone}>{name}</State>
      <span className="log-text" dir="auto" translate="no">
        {line.msg}
        {Object.entries(line.fields).map(([key, value]) => (
          <LogField key={key} name={key} value={value} />
        ))}
      </span>
    </li>
  )
}

function LogField({ name, value }: { readonly name: string; readonly value: unknown }) {
  const { stack } = (typeof value === 'object' && value !== null ? value : {}) as { readonly stack?: unknown }
  if (typeof stack === 'string')
    return (
      <pre translate="no" className="log-stack">
        {stack}
      </pre>
    )
  return (
    <span className="log-field">
      <span className="soft">{name}=</span>
      {typeof value === 'string' ? value : JSON.stringify(value)}
    </span>
  )
}

/** @returns the number of lines that were left out; undefined for what is no line of a log */
function readLine(text: string): Line | number | undefined {
  try {
    const { level, time, msg, left, ...fields } = JSON.parse(text) as Record<string, unknown>
    if (typeof left === 'number' && level === undefined) return left
    if (typeof level !== 'number' || typeof time !== 'number') return undefined
    const all = left === undefined ? fields : { ...fields, left }
    return { level, time, msg: typeof msg === 'string' ? msg : '', fields: all }
  } catch {
    return undefined
  }
}
