import { TextInput } from '@mantine/core'
import { describeValue, inputProps, type FieldProps } from './fields.tsx'
import { fieldTexts as texts } from './field-texts.ts'

const colour = /^#[0-9a-f]{6}$/i

/** A colour as text such as `#1f6feb`, or from the picker of the browser. */
export function ColorField(field: FieldProps) {
  const { edit, at, label } = field
  const value = edit.get(at)
  const text = value === undefined || value === null ? '' : describeValue(value)
  const set = (next: string) => edit.set(at, next === '' ? undefined : next)
  return (
    <TextInput
      {...inputProps(field)}
      placeholder={texts.noColor}
      className="mono-input"
      value={text}
      onChange={(event) => set(event.currentTarget.value.trim())}
      leftSection={
        <input
          type="color"
          className="color-swatch"
          aria-label={texts.pickColor(label)}
          data-empty={colour.test(text) ? undefined : true}
          value={colour.test(text) ? text : '#2553c4'}
          onChange={(event) => set(event.currentTarget.value)}
        />
      }
    />
  )
}
