import { Button } from '@mantine/core'
import { MethodBadge, State } from '../components/badge.tsx'
import { CopyButton } from '../components/copy.tsx'
import { formatJson } from '../components/format-json.ts'
import { ProblemAlert } from '../components/problem.tsx'
import { saveFile } from '../components/save-file.ts'
import { RelativeTime } from '../components/time.tsx'
import { useStore } from '../session/store.ts'
import { formatMs } from '../components/format.ts'
import { calls, type Call } from './call.ts'
import { nameFile } from './name-file.ts'
import { tryItTexts as texts } from './try-texts.ts'

/** A response as text. It is never rendered: it comes from project code. */
export function ResponseView({ call: { method, path, url, ms, response } }: { readonly call: Call }) {
  if ('problem' in response) return <ProblemAlert error={new Error(response.problem)} />
  const { status, headers, text, bytes, isCut, isBinary, state, file } = response
  const type = headers.find(([name]) => name === 'content-type')?.[1]
  const notes = [...(isCut ? [texts.cut] : []), ...(isKeyOf(texts.states, state) ? [texts.states[state]] : [])]
  return (
    <div className="stack">
      <p className="try-status">
        <State tone={status < 300 ? 'good' : status < 400 ? 'quiet' : status < 500 ? 'warn' : 'bad'}>
          {String(status)}
        </State>
        <span>{formatMs(ms)}</span>
        <span className="soft">{texts.bytes(bytes)}</span>
        {text === '' ? null : <CopyButton value={text} label={texts.response} />}
        {file === undefined ? null : (
          <Button variant="default" size="compact-xs" onClick={() => saveFile(file, nameFile(path, headers))}>
            {texts.download}
          </Button>
        )}
        <code translate="no" className="soft try-url" dir="ltr">
          {method} {url}
        </code>
      </p>
      {text === '' ? (
        <NoText isBinary={isBinary} type={type} isEmpty={bytes === 0 && state !== 'open'} />
      ) : (
        <pre translate="no" className="code wrap" tabIndex={0} role="region" aria-label={texts.response} dir="auto">
          {isCut || state === 'open' ? text : formatJson(text)}
        </pre>
      )}
      {notes.map((note) => (
        <p className="soft" key={note}>
          {note}
        </p>
      ))}
      <details>
        <summary>{texts.headers(headers.length)}</summary>
        <dl className="facts headers">
          {headers.map(([name, value]) => (
            <div key={name}>
              <dt className="mono">{name}</dt>
              <dd translate="no" className="mono" dir="auto">
                {value}
              </dd>
            </div>
          ))}
        </dl>
      </details>
    </div>
  )
}

function NoText(about: { readonly isBinary: boolean; readonly isEmpty: boolean; readonly type: string | undefined }) {
  if (about.isBinary) return <p className="soft">{texts.binary(about.type ?? texts.unknownType)}</p>
  return about.isEmpty ? <p className="soft">{texts.noBody}</p> : null
}

function isKeyOf<T extends object>(map: T, key: PropertyKey): key is keyof T {
  return Object.hasOwn(map, key)
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
              <span translate="no" className="mono history-path">
                {one.path}
              </span>
              <span>{'status' in one.response ? one.response.status : texts.failed}</span>
            </button>
            <RelativeTime value={one.at} />
          </li>
        ))}
      </ul>
    </section>
  )
}
