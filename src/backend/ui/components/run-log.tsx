import { State, type Tone } from './badge.tsx'
import { clockOf } from './time.tsx'
import { readLine } from './read-log.ts'
import { logTexts as texts } from './run-texts.ts'

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
  const [, name, tone] = levels.find(([from]) => line.level >= from) ?? levels.at(-1)!
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
