import { Button, NativeSelect, Skeleton } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useParams } from '@tanstack/react-router'
import { useState } from 'react'
import { send } from '../../api/send.ts'
import { CopyButton, Json } from '../../components/copy.tsx'
import { PageHeader } from '../../components/page-header.tsx'
import { SchemaView } from '../../components/schema-view.tsx'
import type { EventDetails } from '../api.ts'
import { SubscribeDialog } from '../events/subscribe-dialog.tsx'
import { LoadProblem } from '../load-problem.tsx'
import { receiverCode } from '../receiver-code.ts'
import { Scopes } from './events.tsx'
import { eventsTexts as texts } from '../events/event-texts.ts'
import { pagesTexts } from '../shell-texts.ts'

/** What an event contains, how it arrives, and subscribing to it. */
export function Page() {
  const { name = '' } = useParams({ strict: false })
  const [isSubscribing, setSubscribing] = useState(false)
  const event = useQuery({
    queryKey: ['event', 'one', name],
    queryFn: ({ signal }) => send<EventDetails>('GET', `event/${encodeURIComponent(name)}`, { signal }),
  })
  if (event.isError) {
    return (
      <LoadProblem
        error={event.error}
        text={texts.unknown}
        link={{ to: '/events', label: texts.all }}
        onRetry={() => void event.refetch()}
      />
    )
  }
  const found = event.data
  return (
    <>
      <PageHeader
        title={name}
        text={<bdi>{found?.description ?? pagesTexts.event}</bdi>}
        action={
          <Button disabled={found === undefined} onClick={() => setSubscribing(true)}>
            {texts.subscribe}
          </Button>
        }
      />
      {found === undefined ? (
        <Skeleton height={240} />
      ) : (
        <div className="page-sections">
          <dl className="facts">
            <dt>{texts.scopes}</dt>
            <dd>
              <Scopes scopes={found.scopes} />
            </dd>
          </dl>
          <div className="two portal-event">
            <Payload event={found} />
            {found.example === undefined || found.example === null ? null : (
              <section>
                <h2>{texts.example}</h2>
                <Json value={found.example} label={texts.example} />
              </section>
            )}
          </div>
          <Request />
          <Receiver />
        </div>
      )}
      {isSubscribing ? <SubscribeDialog event={name} onClose={() => setSubscribing(false)} /> : null}
    </>
  )
}

function Payload({ event: { schema, schemas } }: { readonly event: EventDetails }) {
  return (
    <section>
      <h2>{texts.payload}</h2>
      {schema === undefined || schema === null ? (
        <p className="soft">{texts.anyPayload}</p>
      ) : (
        <SchemaView isInPlace schema={schema} named={schemas} label={texts.payload} />
      )}
    </section>
  )
}

function Request() {
  return (
    <section>
      <h2>{texts.request}</h2>
      <p className="soft">{texts.requestText}</p>
      <dl className="portal-headers">
        {Object.entries(texts.headers).map(([name, meaning]) => (
          <div key={name}>
            <dt className="mono">{name}</dt>
            <dd>{meaning}</dd>
          </div>
        ))}
      </dl>
    </section>
  )
}

const languages = Object.keys(receiverCode) as (keyof typeof receiverCode)[]

function Receiver() {
  const [language, setLanguage] = useState<keyof typeof receiverCode>('javascript')
  const code = receiverCode[language]
  const label = texts.code(texts.languages[language])
  return (
    <section>
      <h2>{texts.receiver}</h2>
      <div className="stack-small portal-receiver">
        <p className="soft">{texts.receiverText}</p>
        <p className="soft">{texts.secretNote}</p>
        <div className="sample">
          <div className="sample-head">
            <NativeSelect
              aria-label={texts.language}
              size="xs"
              value={language}
              data={languages.map((value) => ({ value, label: texts.languages[value] }))}
              onChange={(change) => setLanguage(change.currentTarget.value as typeof language)}
            />
            <CopyButton value={code} label={label} />
          </div>
          <pre translate="no" className="code" tabIndex={0} role="region" aria-label={label} dir="ltr">
            {code}
          </pre>
        </div>
      </div>
    </section>
  )
}
