import { Textarea } from '@mantine/core'

export interface RedirectTexts {
  readonly redirectUris: string
  readonly redirectText: string
  readonly redirectExample?: string
}

interface RedirectUrisProps {
  readonly texts: RedirectTexts
  readonly value: string
  readonly error: string | undefined
  onChange(value: string): void
}

/** One redirect URI on each line. */
export function RedirectUris({ texts, value, error, onChange }: RedirectUrisProps) {
  return (
    <Textarea
      label={texts.redirectUris}
      description={texts.redirectText}
      placeholder={texts.redirectExample}
      name="redirect_uris"
      autosize
      minRows={2}
      value={value}
      error={error}
      onChange={(event) => onChange(event.currentTarget.value)}
      spellCheck={false}
    />
  )
}

/** Reads redirect URIs, one on each line. */
export function readUris(text: string): readonly string[] {
  return text.split(/\s+/).filter((uri) => uri !== '')
}
