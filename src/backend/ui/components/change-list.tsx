import type { ResponseOf } from '../api/call.ts'
import { State } from './badge.tsx'
import { changesTexts as texts } from './change-texts.ts'

type Change = ResponseOf<'GET /release/:id/diff/:other'>['changes'][number]

/** The differences between two releases, those that break callers first. */
export function ChangeList({ changes }: { readonly changes: readonly Change[] }) {
  if (changes.length === 0) return <p className="soft">{texts.none}</p>
  const sorted = changes.toSorted((a, b) => Number(b.breaking) - Number(a.breaking))
  return (
    <ul className="changes">
      {sorted.map(({ change, kind, name, breaking, details }) => (
        <li key={`${kind} ${name}`}>
          <p>
            <span className="soft">
              {texts[change]} {kind}
            </span>{' '}
            <bdi translate="no" className="mono">
              {name}
            </bdi>{' '}
            {breaking ? <State tone="bad">{texts.breaking}</State> : null}
          </p>
          {details.map(({ text }) => (
            <p key={text} className="soft change-detail" dir="auto">
              {text}
            </p>
          ))}
        </li>
      ))}
    </ul>
  )
}
