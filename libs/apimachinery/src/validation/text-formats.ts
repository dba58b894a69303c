/** Formats that schemas and expressions share. Source: kube-openapi strfmt and asaskevich/govalidator. */

/** A UUID of any version, with or without dashes. */
export const isUuid = (text: string): boolean =>
  /^[0-9a-f]{8}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{12}$/i.test(text);

/** Some bytes in base64. */
export const isBase64 = (text: string): boolean =>
  /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=|[A-Za-z0-9+/]{4})$/.test(text);

/** A day that there is, as RFC 3339 has it. */
export function isDate(text: string): boolean {
  if (!/^\d{4}-\d\d-\d\d$/.test(text)) return false;
  const time = Date.parse(`${text}T00:00:00Z`);
  return !Number.isNaN(time) && new Date(time).toISOString().startsWith(text);
}

/** A day and a time of day, as RFC 3339 has it. */
export function isDateTime(text: string): boolean {
  const [date = '', time = ''] = text.toLowerCase().split('t');
  const parts = /^(\d\d):(\d\d):(\d\d)(.\d+)?(z|[+-]\d\d:\d\d)$/.exec(time);
  if (!parts || !isDate(date)) return false;
  const [, hour = '', minute = '', second = ''] = parts;
  return hour <= '23' && minute <= '59' && second <= '59';
}
