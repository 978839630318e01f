import { useParams } from '@tanstack/react-router'
import { lazyPart } from '../components/lazy-part.tsx'
import { Source, Users } from '../components/definition-parts.tsx'
import { DefinitionPage } from '../components/definition-page.tsx'
import { PageHeader } from '../components/page-header.tsx'
import { SchemaView } from '../components/schema-view.tsx'
import { SubscribeLink } from '../components/subscription.tsx'
import { useCanEdit } from '../edit/draft.ts'
import { buildTexts } from '../components/definition-texts.ts'
import { eventsTexts as texts } from './event-texts.ts'
import { Subscribers } from './events.tsx'

const EventEditor = lazyPart(() => import('../editors/event.tsx'), 'EventEditor')

export function Page() {
  const { name = '' } = useParams({ strict: false })
  return useCanEdit() ? <EventEditor name={name} key={name} /> : <EventView />
}

function EventView() {
  return (
    <DefinitionPage
      notFound={texts.notFound}
      find={({ events }, name) => events.find((one) => one.name === name)}
      render={(
        { name, description, source, schema, scopes, private: isPrivate, dispatched_by: users },
        { schemas },
      ) => (
        <>
          <PageHeader title={name} text={description ?? undefined} />
          <div className="stack-wide">
            <dl className="facts">
              <dt>{texts.scopes}</dt>
              <dd>
                <Subscribers scopes={scopes} isPrivate={isPrivate} />
              </dd>
              {source === null ? null : (
                <>
                  <dt>{buildTexts.source}</dt>
                  <dd>
                    <Source value={source} />
                  </dd>
                </>
              )}
            </dl>
            <div className="two">
              <section>
                <h2>{texts.data}</h2>
                {schema === undefined ? (
                  <p className="soft">{texts.anyData}</p>
                ) : (
                  <SchemaView
                    schema={schema}
                    named={Object.fromEntries(schemas.map((one) => [one.name, one.schema]))}
                    label={texts.data}
                  />
                )}
              </section>
              <section>
                <h2>{texts.dispatchedBy}</h2>
                {users.length === 0 ? <p className="soft">{texts.code}</p> : <Users uses={users} />}
              </section>
            </div>
            {isPrivate ? null : <SubscribeLink event={name} />}
          </div>
        </>
      )}
    />
  )
}
