import { ListField, type FieldProps } from '../edit/fields.tsx'
import { isMap } from '../edit/values.ts'
import { EventPicker } from './event-picker.tsx'
import { moreTexts as texts } from './route-texts.ts'

interface DispatchFieldsProps extends Pick<FieldProps, 'edit' | 'at'> {
  /** The name of the schema of the result, if it has one. */
  readonly schema: unknown
  /** The scopes of those who may read what is dispatched. */
  readonly scopes: unknown
}

/** The event that a method dispatches, and the properties of the result that it has. */
export function DispatchFields({ edit, at, schema, scopes }: DispatchFieldsProps) {
  const value = edit.get(at)
  const isProjected = isMap(value)
  /** `dispatch` is the name of the event, unless it has only some of the properties. */
  const data = {
    ...edit,
    get: () => (isProjected ? value['data'] : undefined),
    set: (_at: string, next: unknown) => {
      const event = isProjected ? value['event'] : value
      edit.set(at, Array.isArray(next) && next.length > 0 ? { event, data: next } : event)
    },
  }
  return (
    <>
      <EventPicker
        edit={edit}
        at={isProjected ? `${at}/event` : at}
        label={texts.dispatch}
        description={texts.dispatchText}
        schema={isProjected ? undefined : schema}
        scopes={scopes}
      />
      {value === undefined ? null : (
        <ListField edit={data} at={`${at}/data`} label={texts.dispatchData} description={texts.dispatchDataText} />
      )}
    </>
  )
}
