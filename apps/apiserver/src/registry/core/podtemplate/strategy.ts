import { PodTemplates } from '@tinkernetes/api';
import { containerImages, containerNames, formatLabels } from '../../../printers/cells';
import { defineStrategy } from '../../define-strategy';
import { mapMember } from '../../fill';
import { isTold, templateWarnings } from '../pod/warnings';
import { withoutDisabledTemplateFields } from '../../pod-spec/disabled-fields';
import { defaultPodTemplate } from '../../pod-spec/defaults';
import { validatePodTemplate } from '../../pod-spec/validate';

/** Source: k8s.io/kubernetes/pkg/registry/core/podtemplate. */
export const podTemplateStrategy = defineStrategy(PodTemplates, {
  returnDeletedObject: true,
  hasGeneration: true,
  withoutDisabledFields: (object) => mapMember(object, 'template', withoutDisabledTemplateFields),
  warnings: (object, old) => (isTold(object, old) ? templateWarnings(object.template, 'template') : []),
  default: (object) => mapMember(object, 'template', defaultPodTemplate),
  validate: (object) => (object.template ? validatePodTemplate(object.template, 'template') : []),
  tableCells: ({ metadata, template }) => [
    metadata.name,
    containerNames(template?.spec?.containers),
    containerImages(template?.spec?.containers),
    formatLabels(template?.metadata?.labels),
  ],
});
