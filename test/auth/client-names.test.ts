import assert from 'node:assert/strict'
import { test } from 'node:test'
import { assertClientName } from '../../src/auth/account/client-name.ts'
import { addClient, addUser } from '../../src/auth/index.ts'
import { openWorld } from './world.ts'

const refused: readonly (readonly [name: string, reason: RegExp])[] = [
  ['', /no visible/],
  ['   ', /no visible/],
  ['\u00A0', /invisible/],
  ['\u3164', /invisible/], // Hangul filler
  ['\u2800\u2800', /invisible/], // braille blank
  ['\u115F', /invisible/],
  ['\uFFA0', /invisible/],
  ['\u0301', /no visible/],
  ['\u0301a', /marks/],
  ['a\u202Eb', /invisible/],
  ['a\u2066b\u2069', /invisible/],
  ['a\u200Eb', /invisible/],
  ['a\u061Cb', /invisible/],
  ['a\u200Bb', /invisible/],
  ['a\u00ADb', /invisible/],
  ['a\u2028b', /invisible/],
  ['a\nb', /invisible/],
  ['a\0b', /invisible/],
  ['a\u{E0041}b', /invisible/], // a tag
  ['a\uFE0Fb', /invisible/],
  ['\uD800', /invisible/],
  ['a\u3000b', /invisible/], // another blank character
  [`Zo${'\u0301'.repeat(4)}e`, /marks/],
  ['x'.repeat(65), /longer/],
  ['\u0421itibank', /mixes/], // Cyrillic С
  ['P\u0430yp\u0430l', /mixes/],
  ['\u0420\u0430\u0443 Pal', /mixes/],
  ['G\u03BF\u03BFgle', /mixes/], // Greek omicron
  ['G\u0585ogle', /mixes/], // Armenian oh
  ['\u13A2\u13A0', /an uncommon script/], // Cherokee
  ['Waypost', /Waypost/],
  ['waypost login', /Waypost/],
  ['WAY POST', /Waypost/],
  ['W-a-y-p-o-s-t', /Waypost/],
  ['W\u00E4yp\u00F6st', /Waypost/],
  ['Wayp0st', /Waypost/],
  ['VVaypost', /Waypost/],
  ['\uFF37\uFF41\uFF59\uFF50\uFF4F\uFF53\uFF54', /Waypost/], // full width
  ['\u{1D416}aypost', /Waypost/], // mathematical bold
  ['W\u0251ypost', /Waypost/], // Latin alpha
  ['Waypo\uA731t', /Waypost/], // small capital s
  ['Wayp\u0C66st', /Waypost/], // Telugu zero
  ['Wayp\u3007st', /Waypost/], // ideographic zero
  ['a\u{1D159}b', /invisible/], // a null notehead
  ['\u051C\u0410\u0423\u0420\u041E\u0405\u0422', /Waypost/], // entirely Cyrillic
  ['ᴡᴀʏᴘᴏꜱᴛ', /"ᴡ", which looks like/], // small capitals
  ['ʷᵃʸᵖᵒˢᵗ', /Waypost/],
  ['🇼🇦🇾🇵🇴🇸🇹', /looks like/],
  ['🅦🅐🅨🅟🅞🅢🅣', /looks like/],
  ['\uFFFC', /invisible/], // object replacement
  ['a\uFFFD', /invisible/],
  ['\uE000', /invisible/], // private use
  ['\u0378', /invisible/], // unassigned
  ['Ⅿicrosoft', /"Ⅿ", which looks like/],
  ['Ⓖoogle', /"Ⓖ", which looks like/],
  ['🄶oogle', /looks like/],
  ['ɢoogle', /"ɢ", which looks like/],
  ['ɡoogle', /"ɡ", which looks like/],
  ['Ɡoogle', /looks like/],
  ['Googǀe', /looks like/],
  ['\u{1D5A0}pple', /looks like/], // mathematical
  ['ſlack', /looks like/],
  ['ﬁtbit', /looks like/],
  ['раураӏ', /Cyrillic/],
  ['аррӏе', /Cyrillic/],
  ['Сіѕсо', /Cyrillic/],
]

const allowed = [
  'Foto-Drucker',
  'Käse & Co',
  "Ann's 🖨",
  'I ❤️ lists',
  '写真プリンター App',
  '한국어 App',
  'طابعة الصور',
  'ร้านค้า Shop',
  'Привет 2',
  'Αθήνα',
  'נגר',
  '1Password',
  'é'.normalize('NFD'),
  'Way Station',
  '!',
  'Пример',
  'Ресурс',
  'РЕСТОРАН',
  'Ісус',
  'Ѕвезда',
  'Қазақстан',
  'ΝΙΚΗ',
  '株式会社',
  'ＡＢＣ株式会社',
  '㈱トヨタ',
  'ｶﾀｶﾅ',
  'ㅋㅋ',
  'น้ำ',
  'ɗan ƙasa',
  'Eʋegbe',
  'Azərbaycan',
  'Đà Nẵng',
  'Hawaiʻi',
  'Shop™ № 1',
  '1ª',
  '🇩🇪 🇬🇧',
]

for (const [name, reason] of refused) {
  test(`a client is not named ${JSON.stringify(name.slice(0, 12))}`, () => {
    assert.throws(() => assertClientName(name), { code: 'WP_AUTH_CLIENT_NAME', message: reason })
  })
}

test('a client may be named in any language', () => {
  for (const name of allowed) assertClientName(name)
})

test('the name of a client is checked wherever clients are added', async () => {
  await using world = await openWorld('sqlite')
  await addUser(world.system, { name: 'eve', scopes: [] })
  const client = { user: 'eve', scopes: [], grants: ['client_credentials'], redirectUris: [], public: false }
  await assert.rejects(addClient(world.system, { ...client, name: 'Waypost' }), { code: 'WP_AUTH_CLIENT_NAME' })
})
