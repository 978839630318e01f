import { Link } from '@tanstack/react-router'
import { useScopes } from '../components/access.tsx'
import { TextField } from '../edit/fields.tsx'
import { Uses } from '../edit/entry-dialogs.tsx'
import { EntryEditor, NewEntry, sections } from './entry-editor.tsx'
import { entryTexts } from '../edit/entry-texts.ts'
import { pickerTexts } from '../edit/field-texts.ts'
import { scopeListTexts as list, scopeTexts as texts } from '../pages/scope-texts.ts'

/** The editor of a declared scope: what it allows, what requires it and who has it. */
export function ScopeEditor({ name }: { readonly name: string }) {
  const granted = useScopes().data?.entry.find((one) => one.name === name)
  return (
    <EntryEditor section={sections.scope} name={name}>
      {(edit, at) => (
        <>
          <TextField
            edit={edit}
            at={`${at}/description`}
            label={entryTexts.description}
            description={pickerTexts.scopeText}
            isLong
          />
          <section>
            <h2>{texts.requiredBy}</h2>
            <Uses at={at} />
          </section>
          <section>
            <h2>{texts.grantedTo}</h2>
            <p>
              <Link to="/users" search={{ scope: name }}>
                {list.users}: {granted?.users ?? 0}
              </Link>{' '}
              ·{' '}
              <Link to="/clients" search={{ scope: name }}>
                {list.clients}: {granted?.clients ?? 0}
              </Link>
            </p>
          </section>
        </>
      )}
    </EntryEditor>
  )
}

/** Declares a scope. */
export function NewScope({ onClose }: { onClose(): void }) {
  return <NewEntry section={sections.scope} value={{}} onClose={onClose} />
}
