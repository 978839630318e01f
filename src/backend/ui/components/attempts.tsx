import { State } from './badge.tsx'
import { CodeBlock } from './copy.tsx'
import { describeResult } from './delivery.tsx'
import { formatJson } from './format-json.ts'
import { ExactTime } from './time.tsx'
import { deliveryTexts as texts } from './delivery-texts.ts'

/** One attempt of a delivery. */
export interface Attempt {
  readonly started: string
  readonly outcome: string
  readonly status: number | null
  readonly latency_ms: number | null
  /** The body of the response, as far as it is stored. */
  readonly answer: string | null
  /** Whether the user may not see the response. */
  readonly answer_hidden?: true
  /** Those of the response. */
  readonly headers?: readonly { readonly name: string; readonly value: string | null }[]
}

interface AttemptsProps {
  /** Oldest first. */
  readonly attempts: readonly Attempt[]
  /** The number of attempts that the server returns at most. */
  readonly limit: number
  /** Shown if nothing was sent because the address is not allowed. */
  readonly notAllowed: string
}

/** The newest first, whose response is open: it says why the delivery failed. */
export function Attempts({ attempts, limit, notAllowed }: AttemptsProps) {
  return (
    <section>
      <h2>{texts.attempts}</h2>
      {attempts.length === 0 ? <p className="soft">{texts.noAttempts}</p> : null}
      <ol className="attempts" hidden={attempts.length === 0}>
        {attempts.toReversed().map((attempt, index) => (
          <li key={attempt.started}>
            <details open={index === 0}>
              <summary>
                <State tone={attempt.outcome === 'delivered' ? 'good' : 'bad'}>{describeResult(attempt)}</State>
                {attempt.latency_ms === null ? null : <span>{texts.ms(attempt.latency_ms)}</span>}
                <ExactTime value={attempt.started} />
              </summary>
              <ResponseBody attempt={attempt} notAllowed={notAllowed} />
              {attempt.headers === undefined || attempt.headers.length === 0 ? null : (
                <ResponseHeaders headers={attempt.headers} />
              )}
            </details>
          </li>
        ))}
      </ol>
      {attempts.length === limit ? <p className="soft">{texts.newest(limit)}</p> : null}
    </section>
  )
}

interface ResponseBodyProps {
  readonly attempt: Attempt
  readonly notAllowed: string
}

function ResponseBody({ attempt: { status, answer, outcome, ...attempt }, notAllowed }: ResponseBodyProps) {
  if (attempt.answer_hidden === true) return <p className="soft">{texts.hidden}</p>
  if (answer !== null && answer !== '') return <CodeBlock code={formatJson(answer)} label={texts.responseBody} />
  if (outcome.startsWith('WP_OUTBOUND')) return <p className="soft">{notAllowed}</p>
  return <p className="soft">{status === null ? texts.noResponse : texts.emptyResponse}</p>
}

function ResponseHeaders({ headers }: Pick<Required<Attempt>, 'headers'>) {
  return (
    <section className="stack">
      <h3>{texts.responseHeaders}</h3>
      <dl className="facts mono">
        {headers.map(({ name, value }, index) => (
          <div key={index}>
            <dt dir="auto">{name}</dt>
            <dd dir="auto">{value ?? <span className="soft">{texts.notStored}</span>}</dd>
          </div>
        ))}
      </dl>
    </section>
  )
}
