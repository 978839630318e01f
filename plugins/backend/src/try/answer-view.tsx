import { MethodBadge, State } from '../components/badge.tsx'
import { CopyButton } from '../components/copy.tsx'
import { formatJson } from '../components/format-json.ts'
import { ProblemAlert } from '../components/problem.tsx'
import { RelativeTime } from '../components/time.tsx'
import { useStore } from '../session/store.ts'
import { api } from '../strings/api.ts'
import { calls, type Call } from './call.ts'

const { tryIt: texts } = api

/** An answer as text. It is never rendered: it comes from project code. */
export function AnswerView({ call: { method, url, ms, answer } }: { readonly call: Call }) {
  if ('problem' in answer) return <ProblemAlert error={new Error(answer.problem)} />
  const { status, headers, text, bytes, isCut } = answer
  return (
    <div className="stack">
      <p className="try-status">
        <State tone={status < 300 ? 'good' : status < 400 ? 'quiet' : status < 500 ? 'warn' : 'bad'}>
          {String(status)}
        </State>
        <span>{api.ms(ms)}</span>
        <span className="soft">{texts.bytes(bytes)}</span>
        {text === '' ? null : <CopyButton value={text} label={texts.answer} />}
        <code className="soft try-url" dir="ltr">
          {method} {url}
        </code>
      </p>
      {text === '' ? (
        <p className="soft">{texts.empty}</p>
      ) : (
        <pre className="code wrap" tabIndex={0} role="region" aria-label={texts.answer} dir="auto">
          {formatJson(text)}
        </pre>
      )}
      {isCut ? <p className="soft">{texts.cut}</p> : null}
      <details>
        <summary>{texts.headers(headers.length)}</summary>
        <dl className="facts headers">
          {headers.map(([name, value]) => (
            <div key={name}>
              <dt className="mono">{name}</dt>
              <dd className="mono" dir="auto">
                {value}
              </dd>
            </div>
          ))}
        </dl>
      </details>
    </div>
  )
}

interface HistoryProps {
  readonly chosen: Call | undefined
  onChoose(chosen: Call): void
}

/** The last calls, of all methods. */
export function History({ chosen, onChoose }: HistoryProps) {
  const all = useStore(calls)
  if (all.length === 0) return null
  return (
    <section>
      <h2>{texts.history}</h2>
      <ul className="history">
        {all.map((one) => (
          <li key={`${one.at} ${one.url}`}>
            <button type="button" aria-pressed={one === chosen} onClick={() => onChoose(one)}>
              <MethodBadge method={one.method} />
              <span className="mono history-path">{one.path}</span>
              <span>{'status' in one.answer ? one.answer.status : texts.failed}</span>
            </button>
            <RelativeTime value={one.at} />
          </li>
        ))}
      </ul>
    </section>
  )
}
