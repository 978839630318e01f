import { NativeSelect } from '@mantine/core'
import { CopyButton } from '../components/copy.tsx'
import { makeStore, useStore } from '../session/store.ts'
import { languages, writeCode, type Language, type SentRequest } from './write-code.ts'
import { tryItTexts as texts } from './try-texts.ts'

/** The chosen language, on all pages. */
const chosenLanguage = makeStore<Language>('curl')

/** A request as code in the language that the user chooses. */
export function CodeOfRequest({ request }: { readonly request: SentRequest }) {
  return <CodeInLanguages write={(language) => writeCode(language, request)} />
}

/** Code in the language that the user chooses. */
export function CodeInLanguages({ write }: { write(language: Language): string }) {
  const language = useStore(chosenLanguage)
  const code = write(language)
  const label = texts.codeIn(texts.languages[language])
  return (
    <div className="sample">
      <div className="sample-head">
        <NativeSelect
          aria-label={texts.language}
          size="xs"
          value={language}
          data={languages.map((value) => ({ value, label: texts.languages[value] }))}
          onChange={(event) => chosenLanguage.set(event.currentTarget.value as Language)}
        />
        <CopyButton value={code} label={label} />
      </div>
      <pre translate="no" className="code wrap" tabIndex={0} role="region" aria-label={label} dir="ltr">
        {code}
      </pre>
    </div>
  )
}
